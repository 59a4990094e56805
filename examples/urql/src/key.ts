import { useRef } from "react";

// useKey returns the idempotency key of a text. A text that is sent again has the same one, so it is
// created once. forget is for a text that was created, or whose comment was deleted since.
export function useKey() {
  const last = useRef({ text: "", key: "" });
  return {
    of(text: string) {
      if (!last.current.key || last.current.text !== text) last.current = { text, key: crypto.randomUUID() };
      return last.current.key;
    },
    forget: () => void (last.current.key = ""),
  };
}
