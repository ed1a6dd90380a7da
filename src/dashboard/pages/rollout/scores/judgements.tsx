import "./judgements.css";
import { useState } from "preact/hooks";
import { thousands } from "../../../../report/text/format.ts";
import { Clamped } from "../../../design/transcript/clamped.tsx";
import type { ShownPart } from "../../../design/transcript/content.ts";
import { MessageBody } from "../../../design/transcript/message-body.tsx";
import type { Judgement } from "./judgements-of.ts";

/** Questions that are drawn at a time: each is two texts to be rendered. */
const STEP = 20;
/** Lines of a prompt that stand there unasked: most of it is the same for every question. */
const SHOWN_LINES = 20;
/** The same of an answer. */
const SAID_LINES = 40;

interface JudgementsProps {
  readonly judgements: readonly Judgement[];
  readonly raw: boolean;
}

/** What a judge was shown and what it said, question by question. */
export function Judgements({ judgements, raw }: JudgementsProps) {
  const [drawn, setDrawn] = useState(STEP);
  const left = judgements.length - drawn;
  if (judgements.length === 0) return <p>Empty: no answer of a judge was kept for this rollout.</p>;
  return (
    <>
      <ol class="judgements">
        {judgements.slice(0, drawn).map((judgement, index) => (
          // A list of what was said: it does not change.
          // biome-ignore lint/suspicious/noArrayIndexKey: its place is all that tells one from the other
          <li key={index} aria-label={`Question ${thousands(index + 1)} of ${thousands(judgements.length)}`}>
            {judgements.length === 1 ? null : (
              <p class="judgement-place">
                Question {thousands(index + 1)} of {thousands(judgements.length)}
              </p>
            )}
            {judgement.shown === null ? null : <Side title="The judge was shown" by="user" value={judgement.shown} lines={SHOWN_LINES} raw={raw} />}
            <Said said={judgement.said} raw={raw} />
          </li>
        ))}
      </ol>
      {left <= 0 ? null : (
        <p>
          <button type="button" onClick={() => setDrawn(drawn + STEP)}>
            Show {thousands(Math.min(STEP, left))} more of {thousands(left)}
          </button>{" "}
          All of them are in the row’s file, which the tab JSON downloads.
        </p>
      )}
    </>
  );
}

/** Answers to one question that are drawn. */
const MOST_SAID = 50;

/** What was said to one question, each time that it was asked. */
const Said = ({ said, raw }: { readonly said: readonly unknown[]; readonly raw: boolean }) => (
  <>
    {said.slice(0, MOST_SAID).map((value, index) => (
      <Side
        // biome-ignore lint/suspicious/noArrayIndexKey: its place is all that tells one from the other
        key={index}
        title={said.length === 1 ? "The judge said" : `The judge said, ${thousands(index + 1)} of ${thousands(said.length)}`}
        by="assistant"
        value={value}
        lines={SAID_LINES}
        raw={raw}
      />
    ))}
    {said.length > MOST_SAID ? <p>{thousands(said.length - MOST_SAID)} more are in the row’s file, which the tab JSON downloads.</p> : null}
  </>
);

interface SideProps {
  readonly title: string;
  readonly by: "user" | "assistant";
  readonly value: unknown;
  readonly lines: number;
  readonly raw: boolean;
}

/** Drawn like a message: what a judge thought before it answered is folded. */
const Side = ({ title, by, value, lines, raw }: SideProps) => (
  <div class={`message role-${by}`}>
    <div class="message-head">
      <span class="role">{title}</span>
      {typeof value === "string" ? <span class="message-size">{thousands(value.length)} characters</span> : null}
    </div>
    <Clamped lines={lines}>
      <MessageBody message={{ role: by, parts: partsOf(value), reasoning: "", calls: [], others: {} }} raw={raw} />
    </Clamped>
  </div>
);

const partsOf = (value: unknown): readonly ShownPart[] =>
  value === "" ? [] : [typeof value === "string" ? { at: 0, kind: "text", text: value } : { at: 0, kind: "other", value }];
