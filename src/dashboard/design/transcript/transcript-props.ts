import type { ComponentChildren } from "preact";
import type { RowMessage } from "../../../cells/row-messages.ts";
import type { MessageSource } from "./message-source.ts";
import type { TranscriptRow } from "./transcript-rows.ts";

/** What a page does with a transcript by keys and links. */
export interface TranscriptHandle {
  readonly rows: readonly TranscriptRow[];
  /** The row that the keys are at; -1 = none yet. */
  readonly at: () => number;
  /** Goes to a row: it is scrolled to, and has the focus. False where there is no such row. */
  readonly go: (index: number) => boolean;
  /** Opens what is folded of a row, and folds what is open. */
  readonly toggle: (index: number) => void;
}

export interface TranscriptProps {
  /** What it is a transcript of, for who does not see it. */
  readonly label: string;
  readonly source: MessageSource;
  /** Texts as they are written, in place of what their Markdown means. */
  readonly raw: boolean;
  /** What scrolls: the page, or the transcript's own box. */
  readonly scrolls: "page" | "own";
  /** Address of a message (`#m12`); null: messages have none here. */
  readonly addressOf?: ((number: number) => string) | null;
  /** What stands in a heading of a message, such as that another transcript has it otherwise. */
  readonly note?: (number: number) => string | null;
  /** In place of a message's own text: null leaves it. */
  readonly body?: (number: number, message: RowMessage) => ComponentChildren | null;
  /** The row that the keys are at is another one. */
  readonly onRow?: (index: number) => void;
  readonly onHandle?: (handle: TranscriptHandle | null) => void;
}

/** What every row of a transcript is drawn with. */
export interface RowProps extends Pick<TranscriptProps, "source" | "raw" | "addressOf" | "note" | "body"> {
  /** Among the rows of the transcript: its number from 1, and how many there are. */
  readonly position: readonly [number, number];
  readonly isFolded: boolean;
  readonly toggle: () => void;
}
