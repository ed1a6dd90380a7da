import type { FieldIssue, Problem } from "../../api/problem.ts";
import type { FieldName } from "./draft.ts";
import type { Form } from "./form.ts";
import type { Problems } from "./settings.ts";

/** What the service found wrong with a creation, at the fields that say it; `others`: what is of none. */
export function serviceProblems({ issues, text }: Problem, form: Form): { readonly atFields: Problems; readonly others: readonly string[] } {
  if (issues === undefined) return { atFields: new Map(), others: [text] };
  const atFields = new Map<FieldName, string>();
  const others: string[] = [];
  for (const { loc, msg } of issues) {
    const names = fieldsOf({ loc, msg }, form);
    if (names.length === 0) others.push(`${loc.join(".")}: ${msg}`);
    for (const name of names) atFields.set(name, [atFields.get(name), msg].filter(Boolean).join("; "));
  }
  return { atFields, others };
}

function fieldsOf({ loc: [, first, second, third], msg }: FieldIssue, form: Form): readonly FieldName[] {
  if (first === "environment_ids") return ["environment"];
  if (first === "inference_model") return ["model"];
  if (first === "eval_config" && second === "env_args") return argumentsNamed(msg, form);
  if (first === "eval_config" && second === "sampling_args") return form.sampling.some(({ name }) => name === third) ? [`sampling.${String(third)}`] : [];
  if (first === "eval_config" && (second === "replicas" || second === "endpoint_id")) return ["place"];
  const place = first === "eval_config" ? second : first;
  const field = form.options.find(({ option: { http } }) => http !== null && http.in === (first === "eval_config" ? first : "body") && http.field === place);
  return field === undefined ? [] : [`options.${field.name}`];
}

/** An environment says in words which of its arguments are wrong. */
function argumentsNamed(msg: string, { args, dataset }: Form): readonly FieldName[] {
  const known = [...(args ?? []), ...dataset].map(({ name }) => name);
  const named = known.filter((name) => msg.includes(`argument ${name}:`) || msg.includes(`argument ${name} `));
  return named.map((name): FieldName => `args.${name}`);
}
