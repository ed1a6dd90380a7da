import { DraftField, type DraftProps } from "./draft-field.tsx";
import { JudgementsTick } from "./judgements/judgements-tick.tsx";
import { type Form, samplingFieldsWith } from "./form.ts";

interface MainFieldsProps extends DraftProps {
  readonly form: Form;
  /** Options that stand here, in this order. */
  readonly numbers: readonly string[];
  /** Of the environment, before those of the service. */
  readonly defaults: { readonly num_examples?: unknown; readonly rollouts_per_example?: unknown };
}

/** What most runs say of sampling. */
const MAIN_SAMPLING = ["temperature", "max_tokens", "top_p", "seed"];

/** How much is played, and how answers are sampled. */
export function MainFields({ form, numbers, defaults, ...props }: MainFieldsProps) {
  const usual = (name: string) => (defaults as Readonly<Record<string, unknown>>)[name];
  const sampling = samplingFieldsWith(form, props.draft.sampling);
  const [main, others] = [sampling.filter(({ name }) => MAIN_SAMPLING.includes(name)), sampling.filter(({ name }) => !MAIN_SAMPLING.includes(name))];
  const given = others.filter(({ name }) => Object.hasOwn(props.draft.sampling, name)).length;
  return (
    <>
      <section aria-label="Numbers">
        <h2>Numbers</h2>
        <div class="form-fields">
          {numbers.flatMap((name) => {
            const field = form.options.find((each) => each.name === name);
            if (field === undefined) return [];
            return [
              <DraftField
                key={name}
                {...props}
                group="options"
                field={field}
                {...(typeof usual(name) === "number" ? { usual: `${String(usual(name))}, of the environment` } : {})}
              />,
            ];
          })}
        </div>
        <JudgementsTick draft={props.draft} change={props.change} />
      </section>
      <section aria-label="Sampling">
        <h2>Sampling</h2>
        <div class="form-fields">
          {main.map((field) => (
            <DraftField key={field.name} {...props} group="sampling" field={field} />
          ))}
        </div>
        <details open={others.some(({ name }) => props.problems.has(`sampling.${name}`))}>
          <summary>
            More of sampling <span class="count">{[`${others.length}`, given === 0 ? "" : `${given} given`].filter(Boolean).join(", ")}</span>
          </summary>
          <div class="form-fields">
            {others.map((field) => (
              <DraftField key={field.name} {...props} group="sampling" field={field} />
            ))}
          </div>
        </details>
      </section>
    </>
  );
}
