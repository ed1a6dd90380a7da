import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Question } from "../../api/ask.ts";
import { useDashboard } from "../../context.ts";
import { Confirm } from "../../design/confirm/confirm.tsx";

interface ActButtonProps<T> {
  readonly name: string;
  /** The question before it. */
  readonly title: string;
  readonly tone?: "plain" | "bad";
  readonly method: NonNullable<Question["method"]>;
  /** Below `/api/v1`. */
  readonly path: string;
  readonly body?: object;
  readonly done: (answer: T) => void;
  /** What will happen. */
  readonly children: ComponentChildren;
}

/** A button that asks before it changes something in the service. */
export function ActButton<T>({ name, title, tone = "plain", method, path, body, done, children }: ActButtonProps<T>) {
  const { api } = useDashboard();
  const [asks, setAsks] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setAsks(true)}>
        {name}
      </button>
      {asks ? (
        <Confirm
          title={title}
          verb={name}
          tone={tone}
          act={async () => {
            const answer = await api.ask<T>(path, { method, ...(body === undefined ? {} : { body }) });
            if (!answer.ok) return answer.problem;
            done(answer.value);
            return null;
          }}
          onClose={() => setAsks(false)}
        >
          {children}
        </Confirm>
      ) : null}
    </>
  );
}
