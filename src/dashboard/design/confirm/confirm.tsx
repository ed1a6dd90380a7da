import "./confirm.css";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../../api/problem.ts";
import { Dialog } from "../dialog.tsx";

interface ConfirmProps {
  /** A question: `Delete this run?` */
  readonly title: string;
  /** What will happen, and what of it cannot be undone. */
  readonly children: ComponentChildren;
  /** On the button that does it: `Delete`. */
  readonly verb: string;
  /** `bad`: something is lost by it. */
  readonly tone?: "plain" | "bad";
  /** Does it. Null: it is done, and the dialog closes; what it was refused for is shown in it. */
  readonly act: () => Promise<Problem | null>;
  readonly onClose: () => void;
}

/** Asks before a change. Nothing is shown as changed before the service has said so. */
export function Confirm({ title, children, verb, tone = "plain", act, onClose }: ConfirmProps) {
  const [isAsking, setAsking] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const isOpen = useRef(true);
  useEffect(
    () => () => {
      isOpen.current = false;
    },
    [],
  );
  const confirm = async (): Promise<void> => {
    setAsking(true);
    const refused = await act();
    if (!isOpen.current) return;
    setAsking(false);
    setProblem(refused);
    if (refused === null) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {problem === null ? null : (
        <p class="bad-text" role="alert">
          {problem.text} {problem.hint}
        </p>
      )}
      <p class="dialog-actions">
        <button type="button" class={tone === "bad" ? "bad" : "main"} disabled={isAsking} onClick={() => void confirm()}>
          {isAsking ? "Asking…" : verb}
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </p>
    </Dialog>
  );
}
