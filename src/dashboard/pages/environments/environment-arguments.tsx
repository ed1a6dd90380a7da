import { printable, printableJson, singleLine } from "../../../report/text/printable.ts";
import type { ArgumentFacts } from "../../api/answers.ts";
import { valuesText } from "../../design/field/values-text.ts";

interface EnvironmentArgumentsProps {
  /** Null: not known without its code. */
  readonly args: readonly ArgumentFacts[] | null;
  readonly defaults: { readonly num_examples?: unknown; readonly rollouts_per_example?: unknown };
}

/** What it takes, as its schema says. */
export function EnvironmentArguments({ args, defaults: { num_examples: examples, rollouts_per_example: rollouts } }: EnvironmentArgumentsProps) {
  const areTold = args?.some(({ description }) => Boolean(description)) === true;
  return (
    <section aria-label="Arguments">
      <h2>Arguments</h2>
      {args === null ? <p>What it takes is known to its code alone.</p> : null}
      {args?.length === 0 ? <p>It takes none of its own.</p> : null}
      {args === null || args.length === 0 ? null : (
        <div class="scrolled">
          <table class="rows">
            <caption class="visually-hidden">Arguments</caption>
            <thead>
              <tr>
                <th scope="col">Argument</th>
                <th scope="col">Values</th>
                <th scope="col">Default</th>
                {areTold ? <th scope="col">What it does</th> : null}
              </tr>
            </thead>
            <tbody>
              {args.map((argument) => (
                <tr key={argument.name}>
                  <td data-name="Argument">
                    <code>{singleLine(argument.name)}</code>
                  </td>
                  <td data-name="Values">{valuesText(argument.schema)}</td>
                  <td data-name="Default">{argument.required ? "required" : argument.default === undefined ? "" : <Default value={argument.default} />}</td>
                  {areTold ? <td data-name="What it does">{printable(argument.description ?? "")}</td> : null}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {typeof examples === "number" || typeof rollouts === "number" ? (
        <p class="quiet-text">
          Where a run says nothing:{" "}
          {[typeof examples === "number" ? `${examples} examples` : "", typeof rollouts === "number" ? `${rollouts} rollouts of each` : ""]
            .filter(Boolean)
            .join(", ")}
          .
        </p>
      ) : null}
    </section>
  );
}

const Default = ({ value }: { readonly value: unknown }) => (
  <span class="clipped">
    <code>{printableJson(value)}</code>
  </span>
);
