const spelledOut: Record<string, string> = { ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss' };

/** Lower case, with umlauts and ß spelled out. */
export const fold = (text: string): string =>
  text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[äöüß]/g, (letter) => spelledOut[letter] ?? letter);

/**
 * Endings of long German words in tenders. The search finds a word by such an ending and by the part before it: `Reinigung` finds
 * `Gebäudereinigung`. Taken from the labels of the CPV.
 */
const endings = `
abbruch abdichtung abfall abfuhr abwasser abwicklung analyse anhänger anlage anschluss anstrich antrag anwendung apparat arbeit archiv
armatur artikel asphalt aufbau aufbereitung aufsicht aufzug ausbau ausbildung ausrüstung ausschreibung ausstattung austausch auto
bagger bahn band bank batterie bau baum becken bedarf beförderung behälter behandlung bekämpfung bekleidung belag beleuchtung
berater beratung bereitstellung beschaffung beschichtung beseitigung betreuung betrieb bett bewachung bewässerung bewertung bibliothek
bild bildschirm bildung boden bohrung boot brücke buch bus
chemie container computer cloud
dach dachdecker dämmung daten decke deponie desinfektion dichtung dienst dienstleistung dokumentation draht druck drucker düngung
einbau einkauf einlagerung einrichtung einsatz elektrik elektronik element energie entsorgung entwässerung entwicklung entwurf erde
erfassung erneuerung erschließung erstellung erweiterung erzeugnis erzeugung estrich
fahrt fahrzeug farbe fassade feld fenster fernwärme fertigung feuerwehr filter firma fläche fleisch fliese förderung forschung
forst freianlage fuhrpark führung funk
garten gas gebäude gebiet gelände gemüse gerät gerüst gestaltung getränk gewässer gewebe gewinnung glas grund gruppe gutachten güter
halle haltung handel handschuh hardware haus häuser hafen heim heizung herstellung hilfe hof holz hygiene
industrie information infrastruktur ingenieur inspektion installation instandhaltung instandsetzung instrument internet isolierung
kabel kamera kanal kanäle karte kasse katalog kita klärschlamm klima klinik kohle kommunikation kompressor konstruktion konzept
kontrolle kraftstoff kraftwerk kran kräne krankenhaus küche kultur kunst kurs
labor lager lampe land landschaft lastwagen leasing lebensmittel leistung leitung leuchte lieferung linie lizenz logistik lösung
lüftung luft
machbarkeit mahlzeit maler management marketing maschine maßnahme mast material mauer mauerwerk medien medizin messe messer messung
metall miete mikroskop milch mittel möbel mobilität modernisierung montage motor müll museum
nachweis netz netzwerk notruf nutzung
obst öl ofen öfen ordner organisation
papier park parkplatz personal pflanze pflanzung pflaster pflege plan platte planung platz plätze portal post praxis produkt produktion
programm projekt prothese prüfung pumpe putz
qualität
rad räder rahmen raum räume rechenzentrum recht recycling regal reinigung reifen reise reparatur rettung revision revitalisierung rohr
rohrleitung rückbau
saal sammlung sanierung sanitär säule schacht schalter schiene schiff schild schlamm schlauch schlosser schloss schlösser schotter
schrank schränke schule schulung schutt schutz schweiß sekretariat sender server service sicherheit sicherung simulator sitz software
solar sonde speicher spiel spielplatz spielplätze sport stadt stahl stand station statik stein stelle steuerung stoff straße strategie
strecke strom studie stuhl stühle support system
tablet tafel tank taxi technik telefon teppich terminal test theater therapie tiefbau tier tisch tischler ton tor träger transport
treppe trocknung tunnel tür turbine turm
übersetzung überprüfung übertragung überwachung umbau umsetzung umwelt umzug unterhalt unterhaltung unterlage untersuchung unterstützung
ventil veranstaltung verarbeitung verbindung verbrauch verglasung verkabelung verkehr verlegung vermarktung vermessung vermietung
vermittlung verpackung verpflegung versicherung versorgung verteilung verwaltung verwertung video vorrichtung
wagen wald wand wände wanderweg ware wärme wartung wäsche wasser weg werbung werk werkstatt werkzeug wettbewerb winterdienst wirtschaft
wohnung
zähler zaun zäune zelle zelt zentrum zimmer zubehör zug züge zugang zustellung`
  .trim()
  .split(/\s+/);

const inflections = ['', 'e', 'en', 'n', 's', 'es', 'er', 'ern'];

const forms: ReadonlySet<string> = new Set(
  endings.flatMap((ending) => inflections.flatMap((inflection) => [ending + inflection, fold(ending) + inflection])),
);
const [shortest, longest] = [3, Math.max(...[...forms].map(({ length }) => length))];

/** The distinct parts of the long words in a text. */
export function partsOfWords(text: string): string[] {
  const parts = new Set<string>();
  for (const [word] of text.toLowerCase().matchAll(/\p{L}{6,60}/gu)) split(word, parts);
  return [...parts];
}

/** Splits off the longest ending. The part before it has at least three letters and can be split again. */
function split(word: string, parts: Set<string>): void {
  for (let length = Math.min(longest, word.length - 3); length >= shortest; length -= 1) {
    const ending = word.slice(-length);
    if (!forms.has(ending)) continue;
    const before = word.slice(0, -length);
    parts.add(ending);
    parts.add(before);
    // `Reinigungs-arbeiten`
    const unjoined = before.endsWith('s') && before.length > 4 ? before.slice(0, -1) : before;
    parts.add(unjoined);
    if (unjoined.length >= 6) split(unjoined, parts);
    return;
  }
}
