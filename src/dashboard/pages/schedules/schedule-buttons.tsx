import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { SCHEDULES } from "../../address/links.ts";
import type { Schedule, ScheduleAnswer } from "../../api/schedule-answers.ts";
import type { Problem } from "../../api/problem.ts";
import { useDashboard } from "../../context.ts";
import { Confirm } from "../../design/confirm/confirm.tsx";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { actsOf, type ScheduleAct } from "./schedule-acts.ts";

interface ScheduleButtonsProps {
  readonly schedule: Schedule;
  readonly take: (answer: ScheduleAnswer) => void;
}

/** What may be done with a schedule. Each is asked first, and says what the service answered. */
export function ScheduleButtons({ schedule, take }: ScheduleButtonsProps) {
  const { api, link } = useDashboard();
  const { route } = useLocation();
  const [asked, setAsked] = useState<{ readonly act: ScheduleAct; readonly key: string } | null>(null);
  const [said, setSaid] = useState("");
  const [reason, setReason] = useState("");
  const acts = actsOf(schedule);
  const ask = (act: ScheduleAct | undefined): boolean => {
    if (act === undefined) return false;
    setReason("");
    // Of this question: typed twice, or answered late, it is still one run.
    setAsked({ act, key: newKey() });
    return true;
  };
  const perform = async ({ act, key }: NonNullable<typeof asked>): Promise<Problem | null> => {
    const answer = await api.ask<ScheduleAnswer>(`/schedules/${encodeURIComponent(schedule.name)}${act.path}`, {
      method: act.method,
      ...(act.takesReason && reason.trim() !== "" ? { body: { reason: reason.trim() } } : {}),
      ...(act.id === "run" ? { headers: { "idempotency-key": key } } : {}),
    });
    if (!answer.ok) return answer.problem;
    if (act.id === "delete") {
      route(link(SCHEDULES));
      return null;
    }
    take(answer.value);
    setSaid(act.done(answer.value.data));
    return null;
  };
  useShortcuts([
    { keys: ["p"], does: "Pause or resume the schedule", run: () => ask(acts.find(({ key }) => key === "p")) },
    { keys: ["b"], does: "Begin a run now", run: () => ask(acts.find(({ key }) => key === "b")) },
  ]);
  return (
    <>
      <p class="row-actions">
        {acts.map((act) => (
          <button key={act.id} type="button" title={act.key === null ? undefined : `${act.name} (${act.key})`} onClick={() => ask(act)}>
            {act.name}
          </button>
        ))}
        <span role="status" class="said">
          {said}
        </span>
      </p>
      {asked === null ? null : (
        <Confirm title={asked.act.title} verb={asked.act.name} tone={asked.act.tone} act={() => perform(asked)} onClose={() => setAsked(null)}>
          <p>{asked.act.says}</p>
          {asked.act.takesReason ? (
            <label class="field">
              <span>Why, for others</span>
              <input type="text" maxLength={200} value={reason} onInput={({ currentTarget }) => setReason(currentTarget.value)} />
            </label>
          ) : null}
        </Confirm>
      )}
    </>
  );
}

/** `randomUUID` is there on safe origins alone. */
const newKey = (): string => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
