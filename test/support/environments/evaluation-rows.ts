import type { JsonObject } from "../../../src/config/plan/run-config.ts";

/** A row of each bundled evaluation, in words of our own. */
export const EVALUATION_ROWS: Readonly<Record<string, JsonObject>> = {
  arithmetic_integers: { context: "Question: What is 980 plus 450?\nAnswer:", completion: " 1430" },
  blimp: { sentence_good: "Ann hurt herself.", sentence_bad: "Ann hurt himself.", UID: "anaphor_gender_agreement" },
  fever: { claim: "Water is wet.", label: "SUPPORTS" },
  mmlu: { question: "How many legs has a spider?", subject: "zoology", choices: ["two", "six", "eight", "ten"], answer: 2 },
  mnli: { premise: "Two dogs run.", hypothesis: "Nothing moves.", label: 2 },
  perplexity: { text: "The cat sat on the mat." },
  pes2o_ppl: { text: "We measure how fast a cat sits." },
  qqp: { question1: "How do I cook rice?", question2: "What is the way to cook rice?", label: 1 },
  siqa: { context: "Sam lent Kim a bike.", question: "What is Sam?", answerA: "kind", answerB: "angry", answerC: "tired", label: "1" },
  squad: { context: "The mill was built by Ann Reed in 1820.", question: "Who built it?", answers: { text: ["Ann Reed"], answer_start: [22] } },
  sst2: { sentence: "a warm and funny film", label: 1 },
  tinystories_ppl: { text: "Once a cat sat on a mat." },
  winogrande: { sentence: "The cup fits in the box as the _ is large.", option1: "cup", option2: "box", answer: "2" },
};
