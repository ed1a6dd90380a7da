import { answerQuestions } from "../../../background/timed-worker.ts";
import { markdownHtml } from "./markdown-html.ts";

answerQuestions(markdownHtml);
