import type { ComponentChildren } from "preact";

/** A name, and what it is in words. */
export type Said = readonly [name: string, text: string];

/** Names with what they are, beside each other as they have room (`Field`). */
export const Fields = ({ children }: { readonly children: ComponentChildren }) => <dl class="fields">{children}</dl>;

export const Field = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
