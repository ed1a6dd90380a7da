import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { RUNS } from "../../../address/links.ts";
import type { Asked } from "../../../api/ask.ts";
import type { Problem } from "../../../api/problem.ts";
import type { Resumed, SharedLink } from "../../../api/run-answers.ts";
import { useDashboard } from "../../../context.ts";
import type { RunStore } from "../run-store.ts";
import type { RunAction } from "./run-actions.ts";

export interface Actions {
  /** Which is asked about. */
  readonly asked: RunAction | null;
  readonly ask: (action: RunAction | null) => void;
  /** Null: it is done; else what it was refused for. */
  readonly act: (action: RunAction) => Promise<Problem | null>;
  /** What the service said last. */
  readonly said: string;
  /** The link that was made last, which is shown once. */
  readonly shared: string | null;
  readonly unshare: () => void;
}

/** What an interrupt left is still ending, and the service says to come back. */
const BUSY_TRIES = 10;
const BUSY_MS = 1_000;

async function patiently<T>(ask: () => Promise<Asked<T>>): Promise<Asked<T>> {
  let answer = await ask();
  for (let tries = 0; tries < BUSY_TRIES && !answer.ok && answer.problem.code === "run_busy"; tries++) {
    await new Promise((resolve) => setTimeout(resolve, BUSY_MS));
    answer = await ask();
  }
  return answer;
}

/** Does what can be done to a run, and looks at it again then. */
export function useActions(store: RunStore): Actions {
  const { api, link } = useDashboard();
  const { route } = useLocation();
  const [asked, ask] = useState<RunAction | null>(null);
  const [said, say] = useState("");
  const [shared, setShared] = useState<string | null>(null);
  const isSettled = store.run.value?.edgewise.settled === true;
  // What was said would happen has happened.
  useEffect(() => {
    if (isSettled) say("");
  }, [isSettled]);
  const act = async (action: RunAction): Promise<Problem | null> => {
    say("Asking…");
    const answer = await patiently(() => api.ask<Partial<Resumed & SharedLink & { message: string }>>(action.path, action));
    if (!answer.ok) {
      say([answer.problem.text, answer.problem.hint].filter(Boolean).join(" "));
      // It is not as it is shown.
      if (answer.problem.status === 404 || answer.problem.status === 409) void store.refresh();
      return answer.problem;
    }
    const { message = "", warnings = [], link: made } = answer.value;
    say([message, ...warnings].filter(Boolean).join(" ") || `${action.name}: done.`);
    if (action.id === "delete") route(link(RUNS));
    else void store.refresh();
    if (made) setShared(made);
    return null;
  };
  return { asked, ask, act, said, shared, unshare: () => setShared(null) };
}
