import { mix, mixSeed } from "../../../mix.ts";

/** 256 common words; changing the list or its order changes every generated data set, and so the environment's version. */
const WORDS = (
  "able about above after air all almost along also always among an animal answer any around as ball base bed before better between black body both boy " +
  "bring build bus call came car cat change child cold count country course cross crowd cry cut dark deep different dinner direct distance draw dry earth " +
  "east eat egg eight end energy engine enough even evening ever face family farm fast feet final find finger five flower food forest form four friend " +
  "from front fruit full gave gift gold good group grow guess happy harvest head hear heat help hill history hold home horse hour house how ice idea just " +
  "keep key king kitchen ladder language late learn letter level lift like line long look lost machine made main make map matter may mean meet melody " +
  "metal middle might mile milk mind minute money month more mother mouth name nation near never next night nine noise north nothing often one only open " +
  "order other over page paint part past pattern perhaps piano piece plain play possible press problem produce public quick rain ran real red rest rice " +
  "river root rule run same sand sea season second serve set shape ship shop shoulder show side sing sister sit six size small smile snow soon spell " +
  "spring stand still storm street study sugar summer sun talk teacher thank ticket together tonight top toward track trade train travel triangle try " +
  "twenty two until wall war water way week west wide wild will winter wish wood word world yard year yesterday young zero"
).split(" ");

/** Sentence number `index` of a seed: `min` to `max` words, decided by these four numbers alone. */
export function sentence(seed: number, index: number, min: number, max: number): string {
  let state = mix(mixSeed(seed) ^ index);
  const count = min + (state % (max - min + 1));
  const words: string[] = [];
  for (let i = 0; i < count; i++) {
    state = mix(state);
    words.push(WORDS[state % WORDS.length] ?? "");
  }
  const text = words.join(" ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
