// Texts that outlive a page. If the browser blocks its storage, or the storage is full, a text
// lasts as long as the page.

function newStorage(area: () => Storage) {
  const unstored = new Map<string, string>();
  const listeners = new Set<(key: string | null) => void>();

  function attempt<T>(action: (area: Storage) => T, otherwise?: () => void): T | null {
    try {
      return action(area());
    } catch {
      otherwise?.();
      return null;
    }
  }
  const notify = (key: string | null) => listeners.forEach((listener) => listener(key));

  // Other tabs report their changes. A page that the browser had frozen has missed them.
  addEventListener('storage', (event) => {
    if (event.storageArea !== attempt((area) => area)) return;
    if (event.key === null) unstored.clear();
    else unstored.delete(event.key);
    notify(event.key);
  });
  addEventListener('pageshow', (event) => event.persisted && notify(null));

  const get = (key: string) => unstored.get(key) ?? attempt((area) => area.getItem(key));

  return {
    get,

    // isThere returns false if the browser blocks the storage.
    isThere: () => attempt((area) => area !== null) === true,

    // read returns the value of a JSON text, or null without one that can be read.
    read<T>(key: string): T | null {
      try {
        return JSON.parse(get(key) ?? 'null');
      } catch {
        return null;
      }
    },

    // set keeps a text. Without one, it forgets the text of the key.
    set(key: string, text: string | null) {
      unstored.delete(key);
      if (text === null) attempt((area) => area.removeItem(key));
      else attempt((area) => area.setItem(key, text), () => unstored.set(key, text));
      notify(key);
    },

    // follow calls a listener after each change of a key's text, also by another tab. It returns a
    // function that ends this.
    follow(key: string, listener: () => void) {
      const onChange = (changed: string | null) => (changed === null || changed === key) && listener();
      listeners.add(onChange);
      return () => void listeners.delete(onChange);
    },
  };
}

// browserStorage is the same in all tabs of a browser, and tabStorage belongs to one tab.
export const browserStorage = newStorage(() => localStorage);
export const tabStorage = newStorage(() => sessionStorage);
