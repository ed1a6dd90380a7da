import "./list.css";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface PartProps {
  readonly title: string;
  /** Beside the title: buttons, or how many there are. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A part of a page, under a heading of its own. */
export function Part({ title, aside, children }: PartProps) {
  const id = useId();
  return (
    <section class="part" aria-labelledby={id}>
      <div class="part-head">
        <h2 id={id}>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}
