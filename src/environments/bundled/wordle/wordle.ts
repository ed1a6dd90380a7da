import { z } from "zod";
import { mix, mixSeed } from "../../../mix.ts";
import { XMLParser } from "../../../parsers/xml-parser.ts";
import { Rubric } from "../../../rubrics/rubric.ts";
import { defineEnvironment } from "../../definition/definition.ts";
import type { RowSource } from "../../definition/examples.ts";
import { MultiTurnEnv } from "../../kinds/multi-turn-env.ts";
import type { Message, State } from "../../../rollouts/types.ts";
import { GUESSES, judge, WORDS } from "./game.ts";

const SYSTEM_PROMPT =
  "You are a competitive game player. Make sure you read the game instructions carefully, and always follow the required format.\n\n" +
  "In each turn, think step-by-step, then give your guess inside <guess>...</guess> tags.";

const INSTRUCTIONS =
  `You are playing Wordle. A secret five-letter word has been chosen. You have ${GUESSES} guesses to find it.\n` +
  "After each guess you are told of every letter: G (green) is right and in its place, Y (yellow) is in the word but elsewhere, X is not in the word.\n" +
  "Enter your guess to begin, for example <guess>crane</guess>.";

/** Rows of a run that asks for all of them; a larger number asked for is made as well. */
const DEFAULT_ROWS = 100;

function games(seed: number): RowSource {
  return async function* rows(count) {
    const total = count > 0 ? count : DEFAULT_ROWS;
    for (let index = 0; index < total; index++) yield { question: INSTRUCTIONS, answer: WORDS[mix(mixSeed(seed) ^ (index + 1)) % WORDS.length] ?? "" };
  };
}

/** What the game knows of one rollout, in its state. */
interface Board {
  /** Guesses that counted, with their marks. */
  readonly guesses: { readonly guess: string; readonly marks: string }[];
  /** Turns, answers that held no guess among them. */
  turns: number;
}
function boardOf(state: State): Board {
  state.board ??= { guesses: [], turns: 0 } satisfies Board;
  return state.board as Board;
}
const solved = (state: State): boolean => boardOf(state).guesses.at(-1)?.guess === state.answer;

class WordleEnv extends MultiTurnEnv {
  readonly #parser: XMLParser;

  constructor(options: ConstructorParameters<typeof MultiTurnEnv>[0] & { readonly parser: XMLParser }) {
    super(options);
    this.#parser = options.parser;
  }

  /** The last guess is judged too, though the model is not asked again. */
  override envResponse(messages: readonly Message[], state: State): Message[] {
    const board = boardOf(state);
    const answer: Message[] = [{ role: "user", content: this.play(messages, state) }];
    if (solved(state) || board.turns >= GUESSES) state.final_env_response = answer;
    return answer;
  }

  private play(messages: readonly Message[], state: State): string {
    const board = boardOf(state);
    board.turns++;
    const left = GUESSES - board.turns;
    const guess = (this.#parser.parseAnswer(messages) ?? "")
      .trim()
      .replace(/^\[|\]$/g, "")
      .toLowerCase();
    if (!/^[a-z]{5}$/.test(guess)) return `That is no guess of five letters inside <guess> tags.\nGuesses left: ${left}`;
    const marks = judge(guess, String(state.answer));
    board.guesses.push({ guess, marks });
    return `${[...guess.toUpperCase()].join(" ")}\n${[...marks].join(" ")}\n${solved(state) ? "You have found the word." : `Guesses left: ${left}`}`;
  }
}

/** The word game, in up to six turns: how a model plans over a conversation. */
export const wordle = defineEnvironment({
  id: "wordle",
  version: "1.0.0",
  description: "Find a five-letter word in six guesses; 1 for the word, more for fewer guesses, part of it for letters found.",
  args: z.object({
    seed: z.int().min(0).default(0).describe("which words"),
    system_prompt: z.string().default(SYSTEM_PROMPT).describe("what stands before the game"),
  }),
  load({ seed, system_prompt }, { dataset }) {
    const parser = new XMLParser(["guess"], { answerField: "guess" });
    const correct = ({ state }: { state: State }): number => (solved(state) ? 1 : 0);
    const rubric = new Rubric(
      [
        { name: "correct_answer", fn: correct },
        {
          name: "partial_answer",
          fn: ({ state }) => {
            const marks = solved(state) ? "" : (boardOf(state).guesses.at(-1)?.marks ?? "");
            return 0.2 * (marks.split("G").length - 1) + 0.1 * (marks.split("Y").length - 1);
          },
        },
        { name: "length_bonus", fn: ({ state }) => correct({ state }) / Math.max(1, boardOf(state).guesses.length) },
        { name: "format_reward", weight: 0.2, fn: ({ completion }) => parser.getFormatRewardFunc()({ completion }) },
      ],
      // Solved at the first guess, in the right form.
      { parser, rewardRange: [0, 2.2] },
    );
    // Solved is worth at least 1 + 1/6; four greens and the right format are worth 1.
    return new WordleEnv({ dataset: dataset ?? games(seed), systemPrompt: system_prompt, parser, rubric, maxTurns: GUESSES + 1, passThreshold: 1.1 });
  },
});
