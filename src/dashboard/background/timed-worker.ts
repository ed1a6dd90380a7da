/** What a script beside the page is sent, and what it sends back. */
export interface Asked<Question> {
  readonly number: number;
  readonly question: Question;
}
export interface Answered<Answer> {
  readonly number: number;
  readonly answer: Answer;
}

/** What of a `Worker` is used. */
export interface Background {
  postMessage(message: unknown): void;
  terminate(): void;
  onmessage: ((event: MessageEvent) => unknown) | null;
  onerror: ((event: ErrorEvent) => unknown) | null;
}

interface Waiting<Question, Answer> {
  readonly asked: Asked<Question>;
  readonly settle: (answer: Answer | null) => void;
}

/** Asks a script beside the page one thing after another. One that takes too long over something is ended, and the next thing goes to a new one: no text can hold the page up. */
export class TimedWorker<Question, Answer> {
  readonly #start: () => Background;
  readonly #limitMs: number;
  readonly #waiting: Waiting<Question, Answer>[] = [];
  #worker: Background | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last = 0;

  /** `limitMs`: for one question. */
  constructor(start: () => Background, limitMs: number) {
    this.#start = start;
    this.#limitMs = limitMs;
  }

  /** Null: it failed, or took too long. */
  ask(question: Question): Promise<Answer | null> {
    return new Promise((settle) => {
      this.#waiting.push({ asked: { number: ++this.#last, question }, settle });
      if (this.#waiting.length === 1) this.#next();
    });
  }

  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) return;
    this.#timer = setTimeout(() => this.#failed(), this.#limitMs);
    try {
      this.#worker ??= this.#started();
      this.#worker.postMessage(first.asked);
    } catch {
      this.#failed();
    }
  }

  #started(): Background {
    const worker = this.#start();
    worker.onmessage = ({ data }: MessageEvent<Answered<Answer>>) => {
      if (data.number === this.#waiting[0]?.asked.number) this.#settle(data.answer);
    };
    worker.onerror = () => this.#failed();
    return worker;
  }

  #failed(): void {
    this.#worker?.terminate();
    this.#worker = null;
    this.#settle(null);
  }

  #settle(answer: Answer | null): void {
    clearTimeout(this.#timer);
    this.#waiting.shift()?.settle(answer);
    this.#next();
  }
}

/** In the script itself: answers every question by `work`; what it throws is the answer null. */
export function answerQuestions<Question, Answer>(work: (question: Question) => Answer): void {
  addEventListener("message", ({ data }: MessageEvent<Asked<Question>>) => {
    const answered: Answered<Answer | null> = { number: data.number, answer: attempt(work, data.question) };
    postMessage(answered);
  });
}

function attempt<Question, Answer>(work: (question: Question) => Answer, question: Question): Answer | null {
  try {
    return work(question);
  } catch {
    // What a model wrote may overflow a parser: the text is then shown as it is.
    return null;
  }
}
