import "./form.css";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../../api/problem.ts";

interface AskFormProps {
  /** What it does, for who does not see it. */
  readonly label: string;
  /** On its button. */
  readonly verb: string;
  /** Asks the service for it. Null: it is done, and the fields are empty again; else they stay, with the reason. */
  readonly send: (fields: FormData) => Promise<Problem | null>;
  readonly children: ComponentChildren;
}

/** Fields whose values nothing keeps: they are read when they are sent, and gone once the service has them. */
export function AskForm({ label, verb, send, children }: AskFormProps) {
  const [isAsking, setAsking] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const isThere = useRef(true);
  useEffect(
    () => () => {
      isThere.current = false;
    },
    [],
  );
  const submit = async (form: HTMLFormElement): Promise<void> => {
    setAsking(true);
    const refused = await send(new FormData(form));
    if (!isThere.current) return;
    setAsking(false);
    setProblem(refused);
    if (refused === null) form.reset();
  };
  return (
    // As `post`, so that no value could stand in an address even if this script were gone.
    <form
      class="ask-form"
      aria-label={label}
      method="post"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isAsking) void submit(event.currentTarget);
      }}
    >
      {children}
      {problem === null ? null : (
        <p class="bad-text" role="alert">
          {problem.text} {problem.hint}
        </p>
      )}
      <p class="ask-form-end">
        <button type="submit" class="main" disabled={isAsking}>
          {isAsking ? "Asking…" : verb}
        </button>
      </p>
    </form>
  );
}

/** What a field of a form says; "" where it says nothing. */
export function fieldText(fields: FormData, name: string): string {
  const value = fields.get(name);
  return typeof value === "string" ? value.trim() : "";
}

/** Names and hosts, between commas or blanks. */
export const fieldList = (fields: FormData, name: string): readonly string[] =>
  fieldText(fields, name)
    .split(/[\s,]+/)
    .filter(Boolean);
