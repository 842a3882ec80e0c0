import { whole } from "./WordPatterns.ts"

/** What shops say where a choice of the product has to be made before it can be bought, in the languages we read. */

/** What stands in the place of the control that adds until a choice is made. It is looked for, and never pressed. */
export const choiceFirst = whole(
  "(?:please\\s+)?(?:select|choose|pick)\\s+(?:an?\\s+|your\\s+|the\\s+)?(?:options?|variant|size|colou?r|style|model)",
  "(?:bitte\\s+)?(?:größe|farbe|variante|option)\\s+(?:aus)?wählen|wähle(?:n\\s+sie)?\\s+(?:eine|deine|ihre)\\s+(?:größe|farbe|variante)",
  "(?:choisi(?:r|ssez|s)|sélectionne[rz]?)\\s+(?:une?|votre|ta|la|sa)\\s+(?:taille|couleur|option|pointure)",
  "(?:selecciona|seleccione|elige|elija)r?\\s+(?:(?:una?|tu|su|la|el)\\s+)?(?:talla|color|opción)",
  "(?:seleziona|scegli)\\s+(?:(?:una?|la|il)\\s+)?(?:taglia|colore|misura)|(?:selecione|escolha)\\s+(?:(?:um|uma|o|a)\\s+)?(?:tamanho|cor)",
  "(?:kies|selecteer)\\s+(?:(?:een|je|uw)\\s+)?(?:maat|kleur|optie)",
  "välj\\s+(?:storlek|färg)|vælg\\s+(?:størrelse|farve)|velg\\s+(?:størrelse|farge)|valitse\\s+(?:koko|väri)",
  "wybierz\\s+(?:rozmiar|kolor|wariant)|vyberte\\s+(?:velikost|barvu|variantu)|beden\\s+seç(?:in|iniz)?|выберите\\s+(?:размер|цвет)",
  "サイズを選択(?:してください)?|(?:请)?选择(?:尺码|颜色|规格)|(?:사이즈|옵션)\\s*선택"
)
