// VitePress's own theme without its fonts: the reader's system has enough.
import theme from 'vitepress/theme-without-fonts';
import { defineAsyncComponent } from 'vue';
import TheLab from './TheLab.vue';
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

// What few pages have, these alone load.
const components = {
  TheLab,
  BankExplorer: defineAsyncComponent(() => import('./BankExplorer.vue')),
  FragmentMap: defineAsyncComponent(() => import('./FragmentMap.vue')),
  OccupancySum: defineAsyncComponent(() => import('./OccupancySum.vue')),
  TheBench: defineAsyncComponent(() => import('./TheBench.vue')),
  TheExercise: defineAsyncComponent(() => import('./TheExercise.vue')),
  TheProgress: defineAsyncComponent(() => import('./TheProgress.vue')),
};

export default {
  extends: theme,
  enhanceApp({ app }) {
    for (const [name, component] of Object.entries(components)) app.component(name, component);
  },
};
