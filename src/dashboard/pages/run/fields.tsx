import type { ComponentChildren } from "preact";

/** A name, and what it is in words. */
export type Said = readonly [name: string, text: string];

/** Names with what they are: `said`, and behind it what is more than words (`Field`). */
export const Fields = ({ said = [], children }: { readonly said?: readonly Said[]; readonly children?: ComponentChildren }) => (
  <dl class="fields">
    {said.map(([name, text]) => (
      <Field key={name} name={name}>
        {text}
      </Field>
    ))}
    {children}
  </dl>
);

export const Field = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
