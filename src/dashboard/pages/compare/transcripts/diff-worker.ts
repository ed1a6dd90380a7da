import { answerQuestions } from "../../../background/timed-worker.ts";
import { diffTexts } from "./diff-texts.ts";

answerQuestions(([left, right]: readonly [string, string]) => diffTexts(left, right));
