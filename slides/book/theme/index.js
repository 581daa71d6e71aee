// VitePress's own theme without its fonts: the reader's system has enough.
import theme from 'vitepress/theme-without-fonts';
import BankExplorer from './BankExplorer.vue';
import FragmentMap from './FragmentMap.vue';
import OccupancySum from './OccupancySum.vue';
import TheBench from './TheBench.vue';
import TheExercise from './TheExercise.vue';
import TheLab from './TheLab.vue';
import TheProgress from './TheProgress.vue';
import './book.css';
import './answers.css';
import './lab.css';
import './edit.css';

// Paper is light, and has all hints open.
function for_print() {
  const { classList } = document.documentElement, closed = () => document.querySelectorAll('details:not([open])');
  let dark = false, opened = [];
  addEventListener('beforeprint', () => {
    dark = classList.contains('dark');
    classList.remove('dark');
    opened = [...closed()];
    for (const element of opened) element.open = true;
  });
  addEventListener('afterprint', () => {
    classList.toggle('dark', dark);
    for (const element of opened) element.open = false;
  });
}

if (typeof window !== 'undefined') for_print();

const components = { BankExplorer, FragmentMap, OccupancySum, TheBench, TheExercise, TheLab, TheProgress };

export default {
  extends: theme,
  enhanceApp({ app }) {
    for (const [name, component] of Object.entries(components)) app.component(name, component);
  },
};
