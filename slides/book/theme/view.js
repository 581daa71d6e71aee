// What the pages that answer share: they load answers.wasm, answer what is asked, and keep it in their address.
import { useRouter, withBase } from 'vitepress';
import { computed, onMounted, onUnmounted, reactive, ref, shallowRef, watch } from 'vue';
import { check_view, plain_view, read_address, write_address } from './address.js';
import { load } from './wasm.js';

let loading = null;

function answers() {
  loading ??= fetch(withBase('/answers.wasm')).then(async (response) => {
    if (!response.ok) throw new Error(`answers.wasm gave ${response.status}`);
    return load(await response.arrayBuffer());
  });
  loading.catch(() => { loading = null; });
  return loading;
}

// open(loaded) gives { fields, answer(asked) }; answer throws an Error that says what is wrong. plain: what is asked first.
// Returns { asked, answer, told, link(), page }: answer.wrong says why there is none; told: what the address has wrong;
// page: what open gave.
export function useView(plain, open) {
  const asked = reactive({ ...plain }), page = shallowRef(null), failed = ref(''), told = ref([]), router = useRouter();
  const before = router.onAfterRouteChange;
  let timer, path;

  const answer = computed(() => {
    if (!page.value) return { wrong: failed.value || 'Loading.' };
    try {
      check_view(asked, page.value.fields);
      return page.value.answer({ ...asked });
    } catch (error) {
      return { wrong: error.message };
    }
  });

  function read() {
    const { fields } = page.value, { asked: wanted, wrong } = read_address(location.search, fields);
    try {
      page.value.answer({ ...wanted });
      Object.assign(asked, wanted);
    } catch (error) {
      Object.assign(asked, plain_view(fields));
      wrong.push(`The link cannot be shown: ${error.message}. Shown is what the page begins with.`);
    }
    told.value = wrong;
  }

  const link = () => `${location.origin}${location.pathname}${write_address(asked, page.value?.fields ?? {})}`;

  onMounted(async () => {
    path = location.pathname;
    router.onAfterRouteChange = async (to) => {
      await before?.(to);
      if (page.value && location.pathname === path) read();
    };
    try {
      page.value = open(await answers());
    } catch (error) {
      failed.value = `The answers could not be loaded: ${error.message}`;
      return;
    }
    if (location.pathname === path) read();
  });
  onUnmounted(() => {
    clearTimeout(timer);
    router.onAfterRouteChange = before;
  });

  // A browser allows only so many changes of the address in a second.
  watch(answer, ({ wrong }) => {
    clearTimeout(timer);
    if (!wrong) timer = setTimeout(() => history.replaceState(history.state, '', link() + location.hash), 150);
  });
  return { asked, answer, told, link, page };
}
