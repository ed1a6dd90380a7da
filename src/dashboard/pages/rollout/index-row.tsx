import { useLayoutEffect, useRef } from "preact/hooks";

interface IndexRowProps {
  /** Pixels from the top of the list. */
  readonly top: number;
  readonly text: string;
  readonly isCurrent: boolean;
  readonly isCall: boolean;
  readonly go: () => void;
}

export function IndexRow({ top, text, isCurrent, isCall, go }: IndexRowProps) {
  const row = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => row.current?.style.setProperty("transform", `translateY(${top}px)`), [top]);
  return (
    <button type="button" class={isCall ? "index-row is-call" : "index-row"} ref={row} aria-current={isCurrent ? "true" : undefined} onClick={go}>
      {text}
    </button>
  );
}
