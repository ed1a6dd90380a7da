import { useRef, useState } from "preact/hooks";
import type { Created } from "../../api/answers.ts";
import type { Problem } from "../../api/problem.ts";
import { useDashboard } from "../../context.ts";
import type { Creation } from "./request.ts";

export interface Start {
  readonly isStarting: boolean;
  /** Why a creation was not made, until another one is asked for. */
  readonly problemOf: (creation: Creation | null) => Problem | null;
  readonly start: (creation: Creation) => void;
}

/** Makes one run of a creation, however often it is asked for, and whatever becomes of the answers. `started` is told its id. */
export function useStart(started: (id: string) => void): Start {
  const { api } = useDashboard();
  const [state, setState] = useState<State>({ isStarting: false, text: "", problem: null });
  const isAsked = useRef(false);
  const last = useRef({ text: "", key: "" });
  const start = (creation: Creation): void => {
    if (isAsked.current) return;
    isAsked.current = true;
    const text = JSON.stringify(creation);
    // The same asked for again, after an answer that was lost, is the same run.
    if (last.current.text !== text) last.current = { text, key: drawKey() };
    setState({ isStarting: true, text, problem: null });
    void api.ask<Created>("/hosted-evaluations", { method: "POST", body: creation, headers: { "idempotency-key": last.current.key } }).then((answer) => {
      isAsked.current = false;
      setState({ isStarting: false, text, problem: answer.ok ? null : answer.problem });
      if (answer.ok) started(answer.value.evaluation_id);
      // What was refused was made nothing of: it may be asked for anew.
      else if (answer.problem.kind === "refused") last.current = { text: "", key: "" };
    });
  };
  const problemOf = (creation: Creation | null): Problem | null => (creation !== null && JSON.stringify(creation) === state.text ? state.problem : null);
  return { isStarting: state.isStarting, problemOf, start };
}

interface State {
  readonly isStarting: boolean;
  /** The creation that was asked for last, as JSON. */
  readonly text: string;
  readonly problem: Problem | null;
}

/** `randomUUID` is for addresses with TLS alone. */
const drawKey = (): string => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
