import type { JsonObject } from "../../../config/plan/run-config.ts";
import { CONVERTED_REVISION, type DatasetDefaults } from "../../../datasets/spec.ts";
import type { EnvironmentDefinition } from "../../definition/definition.ts";
import type { RowSource } from "../../definition/examples.ts";
import { defineEvaluation } from "../../evaluations/define-evaluation.ts";
import { RolloutEvaluation } from "../../evaluations/rollout-evaluation.ts";
import { samplesOf, STREAMED, textIn, unreadable } from "./streamed.ts";

type Sample = readonly [prompt: string, expected: string];

/** How an evaluation asks, and what of an answer counts. */
interface Question {
  readonly id: string;
  /** Default 1.0.0. */
  readonly version?: string;
  readonly description: string;
  readonly dataset: DatasetDefaults;
  readonly maxNewTokens: number;
  readonly sample: (row: JsonObject, index: number) => Sample;
  /** Default: the first character that is no space, in upper case. */
  readonly clean?: (yHat: string) => string;
  /** Column of which rows in a row that have the same value are one sample. */
  readonly once?: string;
  /** Default: equal. */
  readonly check?: (y: string, yHat: string) => boolean;
}

class RowQuestions extends RolloutEvaluation {
  readonly name: string;
  readonly #question: Question;
  readonly #rows: RowSource;

  constructor(question: Question, rows: RowSource) {
    super();
    this.name = question.id;
    this.#question = question;
    this.#rows = rows;
  }

  override get length(): number {
    return STREAMED();
  }

  override get(): Sample {
    return STREAMED();
  }

  override samples(): AsyncGenerator<Sample> {
    return samplesOf(this.#rows, this.#question.sample, this.#question.once);
  }

  override maxNewTokens(): number {
    return this.#question.maxNewTokens;
  }

  override clean(yHat: string): string {
    return (this.#question.clean ?? firstCharacter)(yHat);
  }

  override check(y: string, yHat: string): boolean {
    return (this.#question.check ?? ((gold, given) => gold === given))(y, yHat);
  }
}

const firstCharacter = (yHat: string): string => [...yHat.trim()][0]?.toUpperCase() ?? "";
const firstInteger = (yHat: string): string => String(Number(/-?\d+/.exec(yHat.replaceAll(/(?<=\d),(?=\d{3})/g, ""))?.[0] ?? Number.NaN));
const LETTERS = "ABCDEFGHIJ";

/** A label that is a number from 0 on, or its text. Throws `dataset_unreadable` for one that is none of `count`. */
function labelIn(row: JsonObject, column: string, count: number, index: number): number {
  const label = Number(row[column] ?? Number.NaN);
  if (Number.isInteger(label) && label >= 0 && label < count) return label;
  throw unreadable(row, index, `has no label of 0 to ${count - 1} in ${column}`);
}

const choices = (texts: readonly string[]): string => texts.map((text, at) => `${LETTERS[at]}. ${text}`).join("\n");

const QUESTIONS: readonly Question[] = [
  {
    id: "mmlu",
    description: "MMLU: questions of 57 subjects with four choices; the reward is 1 for the right letter, the first character of the answer.",
    dataset: { dataset: "cais/mmlu", config: "all", split: "test" },
    maxNewTokens: 10,
    sample(row, index) {
      const { choices: texts } = row;
      if (!Array.isArray(texts) || texts.length < 2 || texts.length > LETTERS.length) throw unreadable(row, index, "has no list of choices");
      const letter = typeof row.answer === "string" ? row.answer.trim().toUpperCase() : (LETTERS[labelIn(row, "answer", texts.length, index)] ?? "");
      return [`${textIn(row, "question", index)}\n${choices(texts.map(String))}\nAnswer with one letter.\nAnswer:`, letter];
    },
  },
  {
    id: "squad",
    description: "SQuAD: questions on a passage; the reward is 1 when the answer contains the expected words, in lower case.",
    dataset: { dataset: "rajpurkar/squad", split: "validation" },
    maxNewTokens: 50,
    sample(row, index) {
      const gold = (row.answers as { text?: unknown } | undefined)?.text;
      const first: unknown = Array.isArray(gold) ? gold[0] : gold;
      if (typeof first !== "string") throw unreadable(row, index, "has no answers.text");
      return [`${textIn(row, "context", index)}\n\nQuestion: ${textIn(row, "question", index)}\nAnswer:`, first];
    },
    clean: (yHat) => yHat.trim().toLowerCase(),
    check: (y, yHat) => yHat.includes(y.trim().toLowerCase()),
  },
  {
    id: "sst2",
    description: "SST-2: whether a sentence of a film review is positive (1) or negative (0), by the first character of the answer.",
    dataset: { dataset: "stanfordnlp/sst2", split: "validation" },
    maxNewTokens: 10,
    sample: (row, index) => [
      `Sentence: ${textIn(row, "sentence", index)}\nIs it negative (0) or positive (1)? Answer with the number.\nAnswer:`,
      String(labelIn(row, "label", 2, index)),
    ],
  },
  {
    id: "siqa",
    description: "Social IQa: what people do and feel, three choices; the reward is 1 for the right letter.",
    dataset: { dataset: "allenai/social_i_qa", split: "validation", revision: CONVERTED_REVISION },
    maxNewTokens: 10,
    sample(row, index) {
      const texts = ["answerA", "answerB", "answerC"].map((column) => textIn(row, column, index));
      const label = labelIn(row, "label", 4, index);
      if (label === 0) throw unreadable(row, index, "has no label of 1 to 3");
      return [
        `${textIn(row, "context", index)}\n${textIn(row, "question", index)}\n${choices(texts)}\nAnswer with one letter.\nAnswer:`,
        LETTERS[label - 1] ?? "",
      ];
    },
  },
  {
    id: "winogrande",
    description: "WinoGrande: which of two words fills a gap; the reward is 1 for the right letter.",
    dataset: { dataset: "allenai/winogrande", config: "winogrande_xl", split: "validation" },
    maxNewTokens: 10,
    sample(row, index) {
      const label = labelIn(row, "answer", 3, index);
      if (label === 0) throw unreadable(row, index, "has no answer of 1 or 2: its test split has none");
      const texts = [textIn(row, "option1", index), textIn(row, "option2", index)];
      return [`${textIn(row, "sentence", index)}\nWhat fills the gap (_)?\n${choices(texts)}\nAnswer with one letter.\nAnswer:`, LETTERS[label - 1] ?? ""];
    },
  },
  {
    id: "mnli",
    description: "MNLI: whether a sentence follows from another (0), may be true (1), or contradicts it (2), by the first character of the answer.",
    dataset: { dataset: "nyu-mll/glue", config: "mnli", split: "validation_matched" },
    maxNewTokens: 10,
    sample: (row, index) => [
      `Premise: ${textIn(row, "premise", index)}\nHypothesis: ${textIn(row, "hypothesis", index)}\n0 is entailment, 1 neutral, 2 contradiction. Answer with the number.\nAnswer:`,
      String(labelIn(row, "label", 3, index)),
    ],
  },
  {
    id: "qqp",
    description: "QQP: whether two questions ask the same (1) or not (0), by the first character of the answer.",
    dataset: { dataset: "nyu-mll/glue", config: "qqp", split: "validation" },
    maxNewTokens: 10,
    sample: (row, index) => [
      `Question 1: ${textIn(row, "question1", index)}\nQuestion 2: ${textIn(row, "question2", index)}\nDo they ask the same? 1 is yes, 0 is no. Answer with the number.\nAnswer:`,
      String(labelIn(row, "label", 2, index)),
    ],
  },
  {
    id: "fever",
    version: "1.1.0",
    description: "FEVER: whether a claim is supported (S), refuted (R) or neither (N), by the first character of the answer.",
    // Made by a script, as siqa is: the Hub reads it no more, and has what it once converted. One row for each piece of evidence: a claim has as many rows, one after another, as it has pieces.
    dataset: { dataset: "fever/fever", config: "v1.0", split: "labelled_dev", revision: CONVERTED_REVISION },
    once: "id",
    maxNewTokens: 10,
    sample(row, index) {
      const letter = textIn(row, "label", index)[0]?.toUpperCase() ?? "";
      if (!["S", "R", "N"].includes(letter)) throw unreadable(row, index, "has no label SUPPORTS, REFUTES or NOT ENOUGH INFO");
      return [`Claim: ${textIn(row, "claim", index)}\nIs it Supported, Refuted, or is there Not enough information? Answer with S, R or N.\nAnswer:`, letter];
    },
  },
  {
    id: "arithmetic_integers",
    description: "Sums, differences and products as EleutherAI's arithmetic asks them; the reward is 1 when the first integer of the answer is the right one.",
    dataset: { dataset: "EleutherAI/arithmetic", config: "arithmetic_2da", split: "validation" },
    maxNewTokens: 10,
    sample: (row, index) => [textIn(row, "context", index), firstInteger(textIn(row, "completion", index))],
    clean: firstInteger,
    check: (y, yHat) => y !== "NaN" && y === yHat,
  },
];

/** Evaluations by generation: one definition for each way of asking. */
export const QUESTION_EVALUATIONS: readonly EnvironmentDefinition[] = QUESTIONS.map((question) =>
  defineEvaluation({
    id: question.id,
    version: question.version ?? "1.0.0",
    description: question.description,
    dataset: question.dataset,
    load: (_, { dataset }) => new RowQuestions(question, dataset),
  }),
);
