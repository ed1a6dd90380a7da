import { DraftField, type DraftProps } from "./draft-field.tsx";
import { argsFields, type Form } from "./form.ts";
import { givenCount } from "./changes.ts";

/** The arguments of the environment, and which data set it reads. */
export function ArgumentFields({ form, ...props }: DraftProps & { readonly form: Form }) {
  const fields = argsFields(form, props.draft.args);
  const names = form.dataset.map(({ name }) => name);
  const given = givenCount(props.draft.args, names);
  return (
    <>
      {form.args === null ? (
        <p>What this environment takes is known to its code alone: its arguments cannot be filled in here, but in a command or a request.</p>
      ) : null}
      {form.args !== null && fields.length === 0 ? <p>It takes no arguments of its own.</p> : null}
      {fields.length === 0 ? null : (
        <fieldset class="group">
          <legend>Arguments</legend>
          <div class="form-fields">
            {fields.map((field) => (
              <DraftField key={field.name} {...props} group="args" field={field} />
            ))}
          </div>
        </fieldset>
      )}
      {form.dataset.length === 0 ? null : (
        <details open={names.some((name) => props.problems.has(`args.${name}`))}>
          <summary>
            Another data set <span class="count">{given === 0 ? "" : `${given} given`}</span>
          </summary>
          <div class="form-fields">
            {form.dataset.map((field) => (
              <DraftField key={field.name} {...props} group="args" field={field} />
            ))}
          </div>
        </details>
      )}
    </>
  );
}
