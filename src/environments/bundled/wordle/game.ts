/** Guesses of one game. */
export const GUESSES = 6;

/** Words to be found; changing the list or its order changes every game, and so the environment's version. */
export const WORDS = (
  "about above actor adapt admit adult after again agent agree alarm album alert alike alive allow alone alter amber angle angry ankle apart apple april " +
  "arena argue arise armor array arrow aside asset audio avoid awake award badge baker basic beach beard beast begin being below bench birth black blade " +
  "blame blank blast blaze blend bless blind block bloom board boost booth bound brain brake brand brave bread break brick bride brief bring broad brook " +
  "brown brush build bunch cabin cable camel canal candy canoe cargo carry carve catch cause cedar chain chair chalk charm chart chase cheap check cheek " +
  "cheer chess chest chief child chill choir claim class clean clear clerk cliff climb clock cloth cloud coach coast color comet coral couch count court " +
  "cover craft crane crash cream creek crest crisp cross crowd crown curve cycle daily dairy dance delay depth diary digit diver dodge doubt dozen draft " +
  "drain drama dream dress drift drill drink drive eager eagle early earth eight elbow elder elect empty enemy enjoy enter entry equal error essay event " +
  "every exact exist extra fable faith false fancy favor feast fence fever field fifth fight final first flame flash fleet float flood floor flour fluid " +
  "focus force forge forty forum found frame fresh front frost fruit funny gauge ghost giant globe glory glove grace grade grain grand grant grape graph " +
  "grass great green greet grief group guard guess guest guide habit happy harsh heart heavy hedge honey horse hotel house human humor ideal image index " +
  "inner input ivory jewel joint judge juice knife knock label labor large laser later laugh layer learn lemon level light limit linen liver local lodge " +
  "logic loose lucky lunar lunch magic major maple march match mayor medal media melon mercy merit metal meter might minor model money month moral motor " +
  "mount mouse mouth movie music nerve never night noble noise north novel nurse ocean offer often olive onion opera orbit order organ other outer owner " +
  "paint panel paper party pasta patch pause peace pearl phase phone photo piano piece pilot pinch pitch place plain plane plant plate plaza poem point " +
  "polar pound power press price pride prime print prize proof proud pulse punch pupil queen quest quick quiet quilt radar radio raise ranch range rapid " +
  "ratio reach ready realm rebel refer relax reply rider ridge rifle right rival river roast robot rough round route royal ruler rural saint salad sauce " +
  "scale scarf scene scent scope score scout sense serve seven shade shake shape share sharp sheep sheet shelf shell shift shine shirt shock shore short " +
  "shout sight silk since skill slate sleep slice slope small smart smile smoke snack solar solid solve sound south space spare spark speak speed spell " +
  "spend spice spine split spoon sport spray staff stage stair stamp stand start state steam steel steep stick stone storm story stove straw style sugar " +
  "sunny swear sweet swift swing sword table taste teach theme thick thing think third thorn three throw thumb tiger tight timer title toast today topic " +
  "total touch tough towel tower trace track trade trail train treat trend trial tribe trick truck trunk trust truth twice uncle under union unity until " +
  "upper urban usage usual value vapor vault verse video villa viola virus visit vital vivid voice wagon waste watch water whale wheat wheel white whole " +
  "width woman world worth wound wrist write yacht yield young youth zebra"
)
  .split(" ")
  .filter((word) => word.length === 5);

/** Marks of a guess, letter by letter: `G` in its place, `Y` elsewhere, `X` not there. A letter is marked as often as the word has it, greens first. */
export function judge(guess: string, word: string): string {
  const left = [...word].filter((letter, index) => guess[index] !== letter);
  return [...guess]
    .map((letter, index) => {
      if (word[index] === letter) return "G";
      const at = left.indexOf(letter);
      if (at < 0) return "X";
      left.splice(at, 1);
      return "Y";
    })
    .join("");
}
