import { useState } from "preact/hooks";
import type { Evaluation } from "../../../api/run-answers.ts";
import { useActions } from "../actions/use-actions.ts";
import type { RunStore } from "../run-store.ts";

interface SetConcurrencyProps {
  readonly run: Evaluation;
  readonly store: RunStore;
}

/** Sets how many requests a run that works has at once. What it may be the service says. */
export function SetConcurrency({ run, store }: SetConcurrencyProps) {
  const { act, said } = useActions(store);
  const [typed, setTyped] = useState("");
  const set = (): void => {
    const max_concurrent = Number(typed);
    void act({
      id: "set",
      name: "Set",
      says: "What is open stays.",
      tone: "plain",
      method: "PATCH",
      path: `/evaluations/${run.evaluation_id}`,
      body: { max_concurrent },
    });
  };
  return (
    <form
      class="set-concurrency"
      onSubmit={(event) => {
        event.preventDefault();
        set();
      }}
    >
      <label>
        Requests at once
        <input
          type="number"
          required
          step={1}
          value={typed}
          placeholder={String(run.edgewise.max_concurrent)}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </label>
      <button type="submit">Set</button>
      <span class="said" role="status">
        {said}
      </span>
    </form>
  );
}
