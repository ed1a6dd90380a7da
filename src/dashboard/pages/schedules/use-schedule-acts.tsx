import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { singleLine } from "../../../report/text/printable.ts";
import { SCHEDULES } from "../../address/links.ts";
import type { Problem } from "../../api/problem.ts";
import type { ScheduleAnswer } from "../../api/schedule-answers.ts";
import { useDashboard } from "../../context.ts";
import { Confirm } from "../../design/confirm/confirm.tsx";
import type { ScheduleAct } from "./schedule-acts.ts";

export interface AskedActs {
  /** Asks before it is done. False where there is nothing to do. */
  readonly ask: (name: string, act: ScheduleAct | undefined) => boolean;
  /** What the service made of the last one; "" = nothing was done yet. */
  readonly said: string;
  /** The question, while there is one. */
  readonly question: VNode | null;
}

/** Does what may be done with schedules: each is asked first. `take`: what the service answered, null of a schedule that is gone. */
export function useScheduleActs(take: (answer: ScheduleAnswer | null) => void): AskedActs {
  const { api, link } = useDashboard();
  const { route } = useLocation();
  const [asked, setAsked] = useState<{ readonly name: string; readonly act: ScheduleAct; readonly key: string } | null>(null);
  const [said, setSaid] = useState("");
  const [reason, setReason] = useState("");
  const ask = (name: string, act: ScheduleAct | undefined): boolean => {
    if (act === undefined) return false;
    setReason("");
    // Of this question: typed twice, or answered late, it is still one run.
    setAsked({ name, act, key: newKey() });
    return true;
  };
  const perform = async ({ name, act, key }: NonNullable<typeof asked>): Promise<Problem | null> => {
    const answer = await api.ask<ScheduleAnswer>(`/schedules/${encodeURIComponent(name)}${act.path}`, {
      method: act.method,
      ...(act.takesReason && reason.trim() !== "" ? { body: { reason: reason.trim() } } : {}),
      ...(act.id === "run" ? { headers: { "idempotency-key": key } } : {}),
    });
    if (!answer.ok) return answer.problem;
    if (act.id === "delete") {
      take(null);
      route(link(SCHEDULES));
      return null;
    }
    take(answer.value);
    setSaid(act.done(answer.value.data));
    return null;
  };
  const question =
    asked === null ? null : (
      <Confirm title={asked.act.title} verb={asked.act.name} tone={asked.act.tone} act={() => perform(asked)} onClose={() => setAsked(null)}>
        <p>
          <strong>{singleLine(asked.name)}</strong>: {asked.act.says}
        </p>
        {asked.act.takesReason ? (
          <label class="field">
            <span>Why, for others</span>
            <input type="text" maxLength={200} value={reason} onInput={({ currentTarget }) => setReason(currentTarget.value)} />
          </label>
        ) : null}
      </Confirm>
    );
  return { ask, said, question };
}

/** `randomUUID` is there on safe origins alone. */
const newKey = (): string => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
