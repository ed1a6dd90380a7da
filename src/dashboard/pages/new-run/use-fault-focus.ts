import { useEffect, useRef, useState } from "preact/hooks";

/**
 * After a start that was refused the focus is at the first field that is wrong, or at what is said of none of them, whoever finds it: the form at once, the service with its
 * answer. `wanted`: call it when somebody wants to start.
 */
export function useFaultFocus({ isStarting, isRefused }: { readonly isStarting: boolean; readonly isRefused: boolean }) {
  const form = useRef<HTMLFormElement>(null);
  const isWanted = useRef(false);
  const [, draw] = useState(0);
  useEffect(() => {
    if (!isWanted.current || isStarting) return;
    isWanted.current = false;
    if (!isRefused) return;
    const field = form.current?.querySelector<HTMLElement>("[aria-invalid=true]") ?? form.current?.querySelector<HTMLElement>("#start-said");
    // It may stand in a part that is folded; what is wrong in it opens most of them, and this one's group too where that was closed by hand.
    const folded = field?.closest("details");
    if (folded != null) folded.open = true;
    // Not at the lower edge of the window, where the bar with the button covers it.
    field?.scrollIntoView({ block: "center" });
    field?.focus({ preventScroll: true });
  });
  const wanted = (): void => {
    isWanted.current = true;
    // Asked a second time nothing else may be other than before.
    draw((times) => times + 1);
  };
  return { form, wanted };
}
