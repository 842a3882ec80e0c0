import { isExtra, isNothing, saysNothing } from "./AsideWords.ts"

/** One of several things of which a form, or a page, lets choose one. */
export interface FormOption {
  readonly text: string
  readonly value: string
  /** It is what is sent if nobody chooses. */
  readonly isChosen: boolean
  readonly disabled: boolean
}

export interface ChoiceAsked {
  /** By what the whole is called. */
  readonly name: string
  /** The shop says that something has to be chosen. */
  readonly isRequired: boolean
  /** Something has to be, whether the shop says so or not: a variant of what is bought, or a part of an address. */
  readonly mustChoose: boolean
  /** Nothing at all may be sent, as of radio buttons. */
  readonly mayLeave: boolean
}

/** Which is chosen by its place; `none` when nothing is, `unwanted` when everything that may be would buy, give or sign up for more. */
export type Chosen = number | "none" | "unwanted"

const invitation =
  /^\W*$|^\s*[-–—.]{2,}|^\s*[-–—].*[-–—]\s*$|^\W*(?:please|choose|select\b|make\s+a|pick\s+(?:an?|your|one)\b|bitte|w[äa]hle|auswahl|choisi|s[ée]lection|[ée]lige|elija|seleccion|scegli|selezion|escolh|kies|välj|vælg|velg|valitse|wybierz|vyberte|válassz|seçin|выб|選択|选择|選擇|선택)/iu

/** Whether an option only invites to choose one. */
export const isInvitation = ({ text }: Pick<FormOption, "text">): boolean => invitation.test(text.slice(0, 300))

/**
 * What is chosen in a list or of a group of radio buttons. What is chosen already stays, unless it takes something beside the purchase;
 * where nothing is, nothing is, unless something must be, and then what takes nothing or else the first.
 */
export const choose = (
  options: ReadonlyArray<FormOption>,
  { isRequired, mayLeave, mustChoose, name }: ChoiceAsked
): Chosen => {
  const isOpenChoice = isRequired || mustChoose
  const invites = (option: FormOption) =>
    isInvitation(option) || (option.value === "" && (isRequired || (mustChoose && !saysNothing(option.text))))
  const open = options.flatMap((option, at) => (option.disabled ? [] : [{ ...option, at }]))
  const real = open.filter((option) => !invites(option))
  const isOfExtra = isExtra(name)
  const saysExtra = (option: FormOption) => isExtra(option.text) && !isNothing(option)
  // Where all of them say so, it is what is sold.
  const areAll = !isOfExtra && real.every(saysExtra)
  const takes = (option: FormOption) => (isOfExtra ? !isNothing(option) : !areAll && saysExtra(option))
  const now = open.find(({ isChosen }) => isChosen)
  const isAnswered = now !== undefined && !invites(now)
  if (isAnswered && !takes(now)) return now.at
  if (!isOpenChoice && !isAnswered) return "none"
  const chosen = real.find((option) => isOfExtra && isNothing(option)) ?? real.find((option) => !takes(option))
  if (chosen !== undefined) return chosen.at
  return real.length === 0 || (mayLeave && !isOpenChoice) ? "none" : "unwanted"
}
