import type { Schedule, ScheduleAnswer } from "../../api/schedule-answers.ts";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { actsOf } from "./schedule-acts.ts";
import { useScheduleActs } from "./use-schedule-acts.tsx";

interface ScheduleButtonsProps {
  readonly schedule: Schedule;
  readonly take: (answer: ScheduleAnswer) => void;
}

/** What may be done with a schedule. Each is asked first, and says what the service answered. */
export function ScheduleButtons({ schedule, take }: ScheduleButtonsProps) {
  const acts = actsOf(schedule);
  const { ask, said, question } = useScheduleActs((answer) => {
    if (answer !== null) take(answer);
  });
  const byKey = (key: string): boolean =>
    ask(
      schedule.name,
      acts.find((act) => act.key === key),
    );
  useShortcuts([
    { keys: ["p"], does: "Pause or resume the schedule", run: () => byKey("p") },
    { keys: ["b"], does: "Begin a run now", run: () => byKey("b") },
  ]);
  return (
    <>
      <p class="row-actions">
        {acts.map((act) => (
          <button key={act.id} type="button" title={act.key === null ? undefined : `${act.name} (${act.key})`} onClick={() => ask(schedule.name, act)}>
            {act.name}
          </button>
        ))}
        <span role="status" class="said">
          {said}
        </span>
      </p>
      {question}
    </>
  );
}
