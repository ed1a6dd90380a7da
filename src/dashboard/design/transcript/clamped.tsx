import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

interface ClampedProps {
  /** How many may stand there unasked. */
  readonly lines: number;
  readonly children: ComponentChildren;
}

/** Shows the first lines of what is long, and all of it when somebody asks. */
export function Clamped({ lines, children }: ClampedProps) {
  const box = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [isLong, setLong] = useState(false);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    element.style.setProperty("max-height", isOpen ? "none" : `${lines * 1.4}em`);
    const look = (): void => setLong(isOpen || element.scrollHeight > element.clientHeight + 2);
    let isOver = false;
    // After all that is drawn with it has its height: measured one by one, each would have the page laid out anew.
    queueMicrotask(() => (isOver ? undefined : look()));
    // Texts become markup a little after they are drawn.
    const observer = new ResizeObserver(look);
    for (const child of element.children) observer.observe(child);
    return () => {
      isOver = true;
      observer.disconnect();
    };
  }, [isOpen, lines]);
  return (
    <>
      <div class="clamped" ref={box}>
        <div>{children}</div>
      </div>
      {isLong ? (
        <button type="button" class="more" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Show less" : "Show all"}
        </button>
      ) : null}
    </>
  );
}
