import { useState } from "preact/hooks";
import { singleLine } from "../../../../report/text/printable.ts";
import { SCOPES } from "../../../../teams/scopes.ts";
import type { Token, TokenCreated, TokenList } from "../../../api/settings-answers.ts";
import { useDashboard } from "../../../context.ts";
import { AskForm, fieldText } from "../../../design/form/ask-form.tsx";
import { TextField } from "../../../design/form/text-field.tsx";
import { type ListColumn, ListTable } from "../../../design/list/list-table.tsx";
import { Part } from "../../../design/list/part.tsx";
import { Looked } from "../../../design/looked.tsx";
import { Moment } from "../../../design/moment.tsx";
import { localText } from "../../../design/times.ts";
import { useLook } from "../../../live/use-look.ts";
import { ActButton } from "../act-button.tsx";
import { type Once, ShownOnce } from "../shown-once.tsx";

const LIFETIMES = { "7d": "7 days", "30d": "30 days", "90d": "90 days", "365d": "a year", "": "until it is revoked" } as const;

/** Tokens of the team: who may do what by them, made and revoked. */
export function TokensTab() {
  const { api } = useDashboard();
  const look = useLook<TokenList>("/tokens");
  const [once, setOnce] = useState<Once | null>(null);
  const again = (): void => void look.refresh();
  const make = async (fields: FormData) => {
    const expires = fieldText(fields, "expires_in");
    const body = { name: fieldText(fields, "name"), scopes: fields.getAll("scope"), ...(expires === "" ? {} : { expires_in: expires }) };
    const answer = await api.ask<TokenCreated>("/tokens", { method: "POST", body });
    if (!answer.ok) return answer.problem;
    const { name, token } = answer.value.data;
    setOnce({ title: `The token ${singleLine(name)}`, text: token, note: "It is shown this once. Whoever has it may do what it is good for." });
    again();
    return null;
  };
  return (
    <Part title="Tokens">
      <ShownOnce once={once} away={() => setOnce(null)} />
      <Looked look={look} what="these tokens are as they were">
        {({ data }) => (
          <>
            <AskForm label="Make a token" verb="Make the token" send={make}>
              <TextField name="name" label="What it is for" isNeeded maxLength={100} placeholder="nightly runs" />
              <label class="field">
                <span>It is good for</span>
                <select name="expires_in" defaultValue="30d">
                  {Object.entries(LIFETIMES).map(([value, name]) => (
                    <option key={value} value={value} selected={value === "30d"}>
                      {name}
                    </option>
                  ))}
                </select>
              </label>
              <fieldset class="ticks">
                <legend>It may</legend>
                {SCOPES.map((scope) => (
                  <label key={scope}>
                    <input type="checkbox" name="scope" value={scope} /> {scope}
                  </label>
                ))}
              </fieldset>
            </AskForm>
            {data.length === 0 ? <p role="status">There is no token yet.</p> : <Tokens tokens={data} again={again} />}
          </>
        )}
      </Looked>
    </Part>
  );
}

function Tokens({ tokens, again }: { readonly tokens: readonly Token[]; readonly again: () => void }) {
  const now = Date.now();
  const isOver = ({ revoked_at, expires_at }: Token): boolean => revoked_at !== null || (expires_at !== null && Date.parse(expires_at) <= now);
  const columns: readonly ListColumn<Token>[] = [
    {
      name: "Token",
      cell: ({ name, id }) => (
        <>
          {singleLine(name)}
          <small>
            <code>{id}</code>
          </small>
        </>
      ),
    },
    { name: "User", cell: ({ user }) => singleLine(user) },
    { name: "May", cell: ({ scopes }) => scopes.join(", ") },
    { name: "Teams", cell: ({ teams }) => singleLine(teams.join(", ")) },
    {
      name: "Good until",
      cell: ({ revoked_at, expires_at }) =>
        revoked_at !== null ? `revoked ${localText(revoked_at)}` : expires_at === null ? "it is revoked" : localText(expires_at),
    },
    { name: "Last used", cell: ({ last_used_at }) => (last_used_at === null ? "never" : <Moment at={last_used_at} now={now} />) },
    {
      name: "Revoke",
      cell: (token) =>
        isOver(token) ? (
          "over"
        ) : (
          <ActButton
            name="Revoke"
            title={`Revoke ${singleLine(token.name)}?`}
            tone="bad"
            method="DELETE"
            path={`/tokens/${encodeURIComponent(token.id)}`}
            done={again}
          >
            <p>Whatever uses it is refused from now on, and schedules that run by it pause. It cannot be undone.</p>
          </ActButton>
        ),
    },
  ];
  return <ListTable caption="Tokens" columns={columns} rows={tokens} keyOf={({ id }) => id} />;
}
