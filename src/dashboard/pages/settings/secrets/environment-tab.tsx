import { useLocation } from "preact-iso/router";
import { singleLine } from "../../../../report/text/printable.ts";
import { SETTINGS } from "../../../address/links.ts";
import type { EnvironmentSecretList, VariableList } from "../../../api/settings-answers.ts";
import { useDashboard } from "../../../context.ts";
import { AskForm, fieldText } from "../../../design/form/ask-form.tsx";
import { TextField } from "../../../design/form/text-field.tsx";
import { Part } from "../../../design/list/part.tsx";
import { Looked } from "../../../design/looked.tsx";
import { useLook } from "../../../live/use-look.ts";
import { createForEnvironment } from "../commands.ts";
import { GivenTable } from "./given-table.tsx";

/** What one environment is given: its secrets by name, and its variables. */
export function EnvironmentTab() {
  const { link } = useDashboard();
  const { query, route } = useLocation();
  const { environment = "" } = query;
  return (
    <>
      <Part title="Of environments">
        <p class="count">Secrets and variables that one environment gets, beside those of the team that are linked to it.</p>
        <AskForm
          label="Choose an environment"
          verb="Show"
          send={(fields) => {
            route(link(SETTINGS, { tab: "environment", environment: fieldText(fields, "environment") }));
            return Promise.resolve(null);
          }}
        >
          <TextField name="environment" label="Environment" isNeeded placeholder="owner/name" maxLength={200} />
        </AskForm>
      </Part>
      {environment === "" ? null : <Given key={environment} environment={environment} />}
    </>
  );
}

function Given({ environment }: { readonly environment: string }) {
  const path = `/environmentshub/${encodeURIComponent(environment)}`;
  const secrets = useLook<EnvironmentSecretList>(`${path}/secrets`);
  const variables = useLook<VariableList>(`${path}/variables`);
  const name = singleLine(environment);
  return (
    <>
      <Part title={`Secrets of ${name}`}>
        <Looked look={secrets} what="these secrets are as they were">
          {({ data }) =>
            data.length === 0 ? (
              <None command={createForEnvironment("secret", environment)} />
            ) : (
              <GivenTable
                caption={`Secrets of ${name}`}
                kind="Secret"
                rows={data}
                columns={[{ name: "From", cell: ({ source }) => (source === "global" ? "the team's, linked" : "the environment's own") }]}
              />
            )
          }
        </Looked>
      </Part>
      <Part title={`Variables of ${name}`}>
        <Looked look={variables} what="these variables are as they were">
          {({ data }) =>
            data.length === 0 ? (
              <None command={createForEnvironment("var", environment)} />
            ) : (
              <GivenTable
                caption={`Variables of ${name}`}
                kind="Variable"
                rows={data}
                columns={[{ name: "Value", cell: ({ value }) => <code>{singleLine(value)}</code> }]}
              />
            )
          }
        </Looked>
      </Part>
    </>
  );
}

const None = ({ command }: { readonly command: string }) => (
  <p role="status">
    It has none. In a terminal: <code>{command}</code>
  </p>
);
