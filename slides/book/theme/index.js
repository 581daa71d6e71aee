// VitePress's own theme without its fonts: the reader's system has enough.
import theme from 'vitepress/theme-without-fonts';
import BankExplorer from './BankExplorer.vue';
import './book.css';

// Paper is light.
function print_light() {
  const { classList } = document.documentElement;
  let dark = false;
  addEventListener('beforeprint', () => { dark = classList.contains('dark'); classList.remove('dark'); });
  addEventListener('afterprint', () => classList.toggle('dark', dark));
}

if (typeof window !== 'undefined') print_light();

export default { extends: theme, enhanceApp: ({ app }) => app.component('BankExplorer', BankExplorer) };
