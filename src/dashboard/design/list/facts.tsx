import "./list.css";
import type { ComponentChildren } from "preact";

/** Names with what belongs to them; null or "" is left out. */
export const Facts = ({ facts }: { readonly facts: readonly (readonly [name: string, value: ComponentChildren])[] }) => (
  <dl class="fact-list">
    {facts.map(([name, value]) =>
      value === null || value === "" || value === undefined ? null : (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ),
    )}
  </dl>
);
