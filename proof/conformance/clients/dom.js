// Gives Node.js a document, so that React can render. Loaded before all other modules.
import { JSDOM } from "jsdom";

const { window } = new JSDOM("<!doctype html><title>clients</title>", { url: "http://127.0.0.1/" });
const { document, navigator, Node, HTMLElement, MutationObserver, getComputedStyle } = window;
const globals = { window, document, navigator, Node, HTMLElement, MutationObserver, getComputedStyle };
for (const [name, value] of Object.entries(globals)) {
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}
Object.defineProperty(window, "crypto", { value: globalThis.crypto }); // jsdom's has no SHA-256
globalThis.IS_REACT_ACT_ENVIRONMENT = true;
