import { useState } from "preact/hooks";
import { singleLine } from "../../../../report/text/printable.ts";
import type { SecretList } from "../../../api/answers.ts";
import type { Secret } from "../../../api/settings-answers.ts";
import { useDashboard } from "../../../context.ts";
import { AskForm, fieldList, fieldText } from "../../../design/form/ask-form.tsx";
import { TextField } from "../../../design/form/text-field.tsx";
import type { ListColumn } from "../../../design/list/list-table.tsx";
import { Part } from "../../../design/list/part.tsx";
import { Looked } from "../../../design/looked.tsx";
import { useLook } from "../../../live/use-look.ts";
import { ActButton } from "../act-button.tsx";
import { GivenTable } from "./given-table.tsx";

/** Secrets of the team by their names: set, replaced and deleted. No value is ever shown. */
export function SecretsTab() {
  const { api } = useDashboard();
  const look = useLook<SecretList>("/secrets/");
  const [said, setSaid] = useState("");
  const again = (): void => void look.refresh();
  const set = async (fields: FormData) => {
    const [name, description, hosts] = [fieldText(fields, "name"), fieldText(fields, "description"), fieldList(fields, "hosts")];
    // As it was typed: blanks at its ends are part of it.
    const value = String(fields.get("value") ?? "");
    const known = look.value.value?.data.find((each) => each.name === name);
    const more = { ...(description === "" ? {} : { description }), ...(hosts.length === 0 ? {} : { hosts }) };
    const answer =
      known === undefined
        ? await api.ask("/secrets/", { method: "POST", body: { name, value, ...more } })
        : await api.ask(`/secrets/${encodeURIComponent(known.id)}`, { method: "PATCH", body: { value, ...more } });
    if (!answer.ok) return answer.problem;
    setSaid(`${name} is kept, encrypted. ${known === undefined ? "" : "Its value before is gone."}`);
    again();
    return null;
  };
  return (
    <Part
      title="Secrets"
      aside={
        <span class="said" role="status">
          {said}
        </span>
      }
    >
      <p class="count">For environments and models of the team. A secret with hosts is a key of models there, and is sent nowhere else.</p>
      <Looked look={look} what="these secrets are as they were">
        {({ data }) => (
          <>
            <AskForm label="Set a secret" verb="Set the secret" send={set}>
              <TextField name="name" label="Name" isNeeded maxLength={128} placeholder="OPENAI_API_KEY" hint="One that is there gets the new value." />
              <TextField name="value" label="Value" type="password" isNeeded hint="It is never shown again." />
              <TextField name="hosts" label="Hosts of models" placeholder="api.openai.com" hint="None: it is for environments." />
              <TextField name="description" label="What it is for" maxLength={500} />
            </AskForm>
            {data.length === 0 ? <p role="status">There is no secret yet.</p> : <Secrets secrets={data} again={again} />}
          </>
        )}
      </Looked>
    </Part>
  );
}

function Secrets({ secrets, again }: { readonly secrets: readonly Secret[]; readonly again: () => void }) {
  const columns: readonly ListColumn<Secret>[] = [
    { name: "For", cell: ({ hosts }) => (hosts.length === 0 ? "environments" : singleLine(hosts.join(", "))) },
    { name: "Set by", cell: ({ createdBy }) => singleLine(createdBy) },
  ];
  const act: ListColumn<Secret> = {
    name: "Delete",
    cell: ({ id, name }) => (
      <ActButton name="Delete" title={`Delete ${singleLine(name)}?`} tone="bad" method="DELETE" path={`/secrets/${encodeURIComponent(id)}`} done={again}>
        <p>Its value is gone for good, and environments that it is linked to have it no more. Runs that need it fail.</p>
      </ActButton>
    ),
  };
  return <GivenTable caption="Secrets" kind="Secret" rows={secrets} columns={columns} act={act} />;
}
