import { singleLine } from "../../../report/text/printable.ts";
import { useAnswer } from "../../api/use-answer.ts";

interface Named {
  readonly data: readonly { readonly name: string }[];
}

interface DeclaredNamesProps {
  readonly reference: string;
  /** Variables whose values its code is given. */
  readonly keys: readonly string[];
  readonly hosts: readonly string[];
}

/** Keys, secrets and variables by name, and what its code reaches; no value of a secret is in any answer. */
export function DeclaredNames({ reference, keys, hosts }: DeclaredNamesProps) {
  const slug = encodeURIComponent(reference.replace("/", "~"));
  const secrets = useAnswer<Named>(`/environmentshub/${slug}/secrets`);
  const variables = useAnswer<Named>(`/environmentshub/${slug}/variables`);
  return (
    <section aria-label="Keys and hosts">
      <h2>Keys and hosts</h2>
      <dl class="facts">
        <dt>Keys it needs</dt>
        <dd>{namesText(keys)}</dd>
        <dt>Its secrets</dt>
        <dd>{ofAnswer(secrets.value, secrets.problem?.status)}</dd>
        <dt>Its variables</dt>
        <dd>{ofAnswer(variables.value, variables.problem?.status)}</dd>
        <dt>Hosts it reaches</dt>
        <dd>{namesText(hosts)}</dd>
      </dl>
    </section>
  );
}

const namesText = (names: readonly string[]): string => (names.length === 0 ? "none" : names.map(singleLine).join(", "));

function ofAnswer(value: Named | null, status: number | undefined): string {
  if (value !== null) return namesText(value.data.map(({ name }) => name));
  if (status === undefined) return "…";
  return status === 403 ? "not yours to see: your token lacks the scope" : "could not be asked for";
}
