import { useEffect, useState } from "preact/hooks";
import { useDashboard } from "../../context.ts";

/** Draws again each second while `isOn` and somebody looks: times go on without an event. */
export function useTick(isOn: boolean): void {
  const { visibility } = useDashboard();
  const [, draw] = useState(0);
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => {
      if (visibility.isVisible()) draw((count) => count + 1);
    }, 1_000);
    return () => clearInterval(timer);
  }, [isOn, visibility]);
}
