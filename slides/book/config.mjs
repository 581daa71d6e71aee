// VitePress's settings. make.mjs says where the pages are and where the site goes.
import { cells_plugin } from './cells.mjs';
import { slug } from '../texts.mjs';
import { links_plugin } from './links.mjs';
import { prose_plugin } from './prose.mjs';
import { terms_plugin } from './terms.mjs';
import { themes } from './themes.mjs';

const parts = [['Before the first kernel', 0], ['Part one: float, any card', 7], ['Part two: tensor cores', 13],
  ['Part three: Hopper', 20], ['Beyond', 99]];

function sidebars(pages, answering) {
  const item = ({ title, url }) => ({ text: title, link: `/${url.replace(/index$/, '')}` });
  const of = (folder) => pages.filter(({ url }) => url.startsWith(`${folder}/`));
  // Chapters without a number stand behind all steps, but for the glossary.
  const number = ({ url }) => (url === 'chapters/glossary' ? 0 : Number(url.match(/\/(\d\d)_/)?.[1] ?? 99));
  const chapters = parts.map(([text, last], i) => ({ text, items: of('chapters')
    .filter((page) => number(page) <= last && number(page) > (parts[i - 1]?.[1] ?? -1)).map(item) }));
  const book = [{ text: 'The course', items: [{ text: 'Install and run', link: '/start' }, { text: 'Other ways to set up', link: '/setup' },
    { text: 'The steps', link: '/steps' }, { text: 'Your own kernels', link: '/simt' }, { text: 'Watch a kernel', link: '/watch' }, { text: 'Your own program', link: '/programs' },
    { text: 'The library', link: '/library' }] },
    ...chapters.filter(({ items }) => items.length),
    { text: 'Tried and measured', items: [...answering, { text: 'The ladder on an H200', link: '/ladder' },
      { text: 'What each idea is worth', link: '/worth' }, { text: 'Results', link: '/results' }] }];
  const index_first = (a, b) => b.url.endsWith('/index') - a.url.endsWith('/index');
  return {
    '/lab/': [{ text: 'Lab notes', items: of('lab').map(item) }],
    '/exercises/': [{ text: 'Exercises', items: of('exercises').sort(index_first).map(item) }],
    '/changes/': [{ text: 'What changed', items: of('changes').sort(index_first).map(item) }],
    '/code/': [{ text: 'Code', items: of('code').map(item).map(({ text, link }) => ({ text: text.replace('steps/', ''), link })) }],
    '/decks/': [{ text: 'Decks', items: of('decks').sort(index_first).map(item) }],
    '/': book,
  };
}

// A ladder of three steps.
const icon = 'data:image/svg+xml,' + encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">' +
  '<path fill="#1f6feb" d="M1 11h4v4H1zM6 6h4v9H6zM11 1h4v14h-4z"/></svg>');

// What the search looks at: a page's text; its code without colours, which would take longer than all else.
function searched(source, env, md) {
  const { highlight } = md.options;
  md.options.highlight = null;
  try {
    const html = md.render(source, env);
    return env.frontmatter?.search === false ? '' : html;
  } finally {
    md.options.highlight = highlight;
  }
}

// to: the folder of the site; base: its path on its host; pages: those with a text in the project; made: those without.
export function config({ to, base, pages, made }) {
  const answering = made.filter(({ url }) => ['banks', 'fragments', 'occupancy', 'bench'].includes(url))
    .map(({ title, url }) => ({ text: title, link: `/${url}` }));
  return {
    lang: 'en', title: 'gemm-steps', description: 'A course in fast CUDA matrix multiply, one idea at a time',
    base, outDir: to, cleanUrls: false, metaChunk: true, ignoreDeadLinks: false,
    head: [['link', { rel: 'icon', href: icon }]],
    markdown: {
      theme: themes, linkify: false, attrs: { disable: false, allowedAttributes: ['id'] }, emoji: { enabled: [] },
      anchor: { slugify: slug }, config: (md) => md.use(terms_plugin, { pages }).use(links_plugin, { pages, base }).use(cells_plugin).use(prose_plugin),
    },
    themeConfig: {
      nav: [{ text: 'Chapters', link: '/start', activeMatch: '^/(chapters|start|results)' },
        { text: 'Changes', link: '/changes/', activeMatch: '^/changes/' },
        { text: 'Exercises', link: '/exercises/', activeMatch: '^/exercises/' },
        { text: 'Ladder', link: '/ladder' },
        ...(answering.length ? [{ text: 'Try', items: answering, activeMatch: '^/(banks|fragments|occupancy|bench)' }] : []),
        { text: 'Decks', link: '/decks/', activeMatch: '^/decks/' }],
      sidebar: sidebars([...pages, ...made], answering),
      notFound: { title: 'There is no such page', quote: 'The search above looks through all pages.', linkText: 'To the first page' },
      outline: { level: [2, 3], label: 'On this page' },
      search: { provider: 'local', options: { _render: searched } },
    },
  };
}
