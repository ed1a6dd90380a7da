import { useState } from "preact/hooks";
import { DESTINATIONS } from "../../../../alerts/destinations.ts";
import { OCCURRENCE_TYPES } from "../../../../alerts/occurrence-types.ts";
import { singleLine } from "../../../../report/text/printable.ts";
import type { AlertPutAnswer } from "../../../api/settings-answers.ts";
import { useDashboard } from "../../../context.ts";
import { AskForm, fieldList, fieldText } from "../../../design/form/ask-form.tsx";
import { TextField } from "../../../design/form/text-field.tsx";
import type { Once } from "../shown-once.tsx";

interface AlertFormProps {
  readonly say: (text: string) => void;
  readonly showOnce: (once: Once) => void;
}

/** Makes an alert, or gives one another definition. The address may be a secret, and is treated as one. */
export function AlertForm({ say, showOnce }: AlertFormProps) {
  const { api } = useDashboard();
  const [to, setTo] = useState<string>(DESTINATIONS[0]);
  const put = async (fields: FormData) => {
    const [name, on, names] = [fieldText(fields, "name"), fields.getAll("on"), fieldList(fields, "for")];
    const place = to === "email" ? { email: fieldText(fields, "email") } : fieldText(fields, "url") === "" ? {} : { url: fieldText(fields, "url") };
    const body = { to, ...place, ...(on.length === 0 ? {} : { on }), ...(names.length === 0 ? {} : { for: names }) };
    const answer = await api.ask<AlertPutAnswer>(`/alerts/${encodeURIComponent(name)}`, { method: "PUT", body });
    if (!answer.ok) return answer.problem;
    const { secret } = answer.value;
    const shown = singleLine(name);
    const note = "It is shown this once: with it the receiver checks that messages are of this service.";
    if (secret !== undefined) showOnce({ title: `The signing secret of ${shown}`, text: secret, note });
    say(`${shown} is kept.`);
    return null;
  };
  return (
    <AskForm label="Make an alert" verb="Keep the alert" send={put}>
      <TextField name="name" label="Name" isNeeded maxLength={64} placeholder="oncall" hint="One that is there gets this definition." />
      <label class="field">
        <span>To</span>
        <select value={to} onChange={({ currentTarget }) => setTo(currentTarget.value)}>
          {DESTINATIONS.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </label>
      {to === "email" ? (
        <TextField key="email" name="email" label="Address" isNeeded placeholder="team@example.com" />
      ) : (
        <TextField key="url" name="url" label="Address" type="password" hint="Kept encrypted, and never shown again. May be left out of a change." />
      )}
      <TextField name="for" label="For" placeholder="nightly, loop-*" hint="Names of schedules, monitors, runs and environments. None: all of them." />
      <fieldset class="ticks">
        <legend>On (none: all of them)</legend>
        {OCCURRENCE_TYPES.map((type) => (
          <label key={type}>
            <input type="checkbox" name="on" value={type} /> {type}
          </label>
        ))}
      </fieldset>
    </AskForm>
  );
}
