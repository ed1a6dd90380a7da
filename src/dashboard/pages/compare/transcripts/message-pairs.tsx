import { useMemo, useState } from "preact/hooks";
import { thousands } from "../../../../report/text/format.ts";
import { singleLine } from "../../../../report/text/printable.ts";
import { MarkedText } from "./marked-text.tsx";
import { DiffBlock } from "./diff-block.tsx";
import type { Row } from "./rows-store.ts";
import { blockPairs, foldedPairs, type MessagePair, pairsOf } from "./transcript-pairs.ts";

/** Pairs of messages, or folds of them, that are drawn at first, and that a click adds. */
const FIRST_PAIRS = 40;
const MORE_PAIRS = 100;
/** Of a fold that is open. */
const FOLD_MESSAGES = 40;
/** A fold with so few characters, as a short question, is open at first. */
const SHORT = 1_200;

/** Messages of two rollouts at the same places beside each other. `left`, `right`: null where a run has none. */
export function MessagePairs({ left, right }: { readonly left: Row | null; readonly right: Row | null }) {
  const folds = useMemo(() => foldedPairs(pairsOf(left ?? {}, right ?? {})), [left, right]);
  const [shown, setShown] = useState(FIRST_PAIRS);
  if (folds.length === 0) return <p>Neither has a message.</p>;
  const rest = folds.length - shown;
  return (
    <div class="message-pairs">
      {folds.slice(0, shown).map((each) => ("number" in each ? <Pair key={each.number} pair={each} /> : <Fold key={each[0]?.number} pairs={each} />))}
      {rest > 0 ? (
        <button type="button" onClick={() => setShown(shown + MORE_PAIRS)}>
          Show {thousands(Math.min(rest, MORE_PAIRS))} more of {thousands(rest)}
        </button>
      ) : null}
    </div>
  );
}

function Pair({ pair: { number, part, left, right } }: { readonly pair: MessagePair }) {
  const role = [left?.role, right?.role].filter((each) => each !== undefined);
  return (
    <section class="message-pair" aria-label={`Message ${number}`}>
      <h4>
        {number}. {singleLine([...new Set(role)].join(" / ")).slice(0, 80)} <small class="in-line">{part}</small>
      </h4>
      {blockPairs(left, right).map((block, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a block is its place
        <DiffBlock key={at} name={block.name} left={block.left} right={block.right} />
      ))}
    </section>
  );
}

/** Messages that are the same in both, once. */
function Fold({ pairs }: { readonly pairs: readonly MessagePair[] }) {
  const characters = pairs.reduce((sum, { left }) => sum + (left?.blocks.reduce((own, { text }) => own + text.length, 0) ?? 0), 0);
  const [isOpen, setOpen] = useState(characters <= SHORT);
  const roles = [...new Set(pairs.slice(0, 100).map(({ left }) => left?.role ?? ""))].join(", ");
  return (
    <details class="message-fold" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {pairs.length === 1 ? "1 message is" : `${thousands(pairs.length)} messages are`} the same in both ({singleLine(roles).slice(0, 80)})
      </summary>
      {isOpen
        ? pairs.slice(0, FOLD_MESSAGES).map(({ number, left }) => (
            <section key={number} class="message-pair" aria-label={`Message ${number}`}>
              <h4>
                {number}. {singleLine(left?.role ?? "").slice(0, 80)}
              </h4>
              {left?.blocks.map(({ name, text }, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a block is its place
                <div key={at} class="same-block">
                  {name === "" ? null : <small>{singleLine(name).slice(0, 200)}</small>}
                  <MarkedText parts={[{ kind: "same", text }]} side="left" />
                </div>
              ))}
            </section>
          ))
        : null}
      {isOpen && pairs.length > FOLD_MESSAGES ? <p class="count">{thousands(pairs.length - FOLD_MESSAGES)} more are the same.</p> : null}
    </details>
  );
}
