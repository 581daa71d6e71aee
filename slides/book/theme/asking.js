// A worker that is asked: { id, call, args } goes to it, { id, result } or { id, error } comes back; what else it says is told.

// begin(send): what a fresh worker is asked first; told(what, send): what it says by itself. stop() ends what is running, whose promise fails with an Error whose
// message is "stopped"; the next call starts another worker.
export function open_asking(url, begin, told) {
  const waiting = new Map();
  let worker = null, ready = null, next = 0;

  function send(call, args) {
    return new Promise((done, fail) => {
      waiting.set(++next, { done, fail });
      worker?.postMessage({ id: next, call, args });
    });
  }

  async function start() {
    worker = new Worker(url);
    worker.onmessage = ({ data: { id, result, error, ...rest } }) => {
      if (!id) return told(rest, send);
      const { done, fail } = waiting.get(id);
      waiting.delete(id);
      return error === undefined ? done(result) : fail(new Error(error));
    };
    worker.onerror = (event) => stop(event.message || 'the worker could not be loaded');
    await begin(send);
  }

  function stop(why = 'stopped') {
    worker?.terminate();
    ready = worker = null;
    for (const { fail } of waiting.values()) fail(new Error(why));
    waiting.clear();
  }

  async function ask(call, args) {
    const mine = ready ??= start();
    await mine.catch((error) => {
      if (ready === mine) stop(error.message);
      throw error;
    });
    return send(call, args);
  }
  return { ask, stop };
}
