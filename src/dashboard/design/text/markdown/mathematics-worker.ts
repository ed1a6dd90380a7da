import { answerQuestions } from "../../../background/timed-worker.ts";
import { mathematicsHtml } from "./mathematics-html.ts";
import type { Formula } from "./mathematics-rule.ts";

answerQuestions((formulas: readonly Formula[]) => formulas.map(mathematicsHtml));
