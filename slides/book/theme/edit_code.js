// The editor: CodeMirror, in the colours of the book. Loaded when a text is first edited.
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { cpp } from '@codemirror/lang-cpp';
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { getChunks, unifiedMergeView } from '@codemirror/merge';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, Prec } from '@codemirror/state';
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';

// One diagnostic for each remark: { line, column, text, severity }.
function diagnostics_of(state, remarks) {
  return remarks.filter(({ line }) => line >= 1 && line <= state.doc.lines).map(({ line, column, text, severity }) => {
    const at = state.doc.line(line), from = Math.min(at.from + (column ?? 1) - 1, at.to), word = at.text.slice(from - at.from).match(/^\w+|^\S/);
    const whole = { from: at.from + at.text.search(/\S|$/), to: at.to }, there = column && word ? { from, to: from + word[0].length } : whole;
    return { ...there, severity, message: text };
  });
}

// place: the element that it fills; on: { change(text), run() }. Returns { text(), set(text), remark(list), compare(text), show(line),
// close() }: set can be undone; compare shows the first difference, compare(null) ends.
export function open_editor(place, text, label, on) {
  const compared = new Compartment();
  const run = { key: 'Mod-Enter', run: () => { on.run(); return true; } };
  const view = new EditorView({ parent: place, state: EditorState.create({ doc: text, extensions: [
    Prec.highest(keymap.of([run])), lineNumbers(), history(), drawSelection(), indentUnit.of('    '), indentOnInput(), bracketMatching(),
    highlightActiveLine(), highlightSelectionMatches(), lintGutter(), cpp(), syntaxHighlighting(classHighlighter),
    keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, indentWithTab]), compared.of([]),
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    EditorView.updateListener.of((update) => { if (update.docChanged) on.change(update.state.doc.toString()); }),
  ] }) });
  const now = () => view.state.doc.toString();
  return {
    text: now,
    set(fresh) { if (fresh !== now()) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: fresh } }); },
    remark: (list) => view.dispatch(setDiagnostics(view.state, diagnostics_of(view.state, list))),
    compare(original) {
      view.dispatch({ effects: compared.reconfigure(original === null ? [] : unifiedMergeView({ original, mergeControls: false, gutter: true })) });
      const first = getChunks(view.state)?.chunks[0];
      if (first) view.dispatch({ effects: EditorView.scrollIntoView(Math.min(first.fromB, view.state.doc.length), { y: 'center' }) });
    },
    show(line) {
      const at = view.state.doc.line(Math.max(1, Math.min(line, view.state.doc.lines)));
      view.dispatch({ selection: { anchor: at.from }, effects: EditorView.scrollIntoView(at.from, { y: 'center' }) });
      view.focus();
    },
    close: () => view.destroy(),
  };
}
