// What is kept on the reader's machine alone: values by name, as JSON in localStorage.

export function read_kept(name, otherwise = null) {
  try {
    return JSON.parse(localStorage.getItem(`gemm-steps ${name}`)) ?? otherwise;
  } catch {
    return otherwise;  // no storage, or none that can be read
  }
}

// value null: nothing is kept any more. False where there is no storage, or no room in it.
export function keep(name, value) {
  try {
    if (value === null) localStorage.removeItem(`gemm-steps ${name}`);
    else localStorage.setItem(`gemm-steps ${name}`, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}
