/** The configuration of a widget, as the API stores it. */
export type Config = Record<string, unknown>;

export interface TileProps {
  /** Id of the widget. */
  id: string;
  config: Config;
  /** The dashboard is being arranged. */
  isEditing: boolean;
}

export interface SettingsProps {
  config: Config;
  onChange: (config: Config) => void;
  /** The refused fields, by their path in the body: `config.url`. */
  errors: Record<string, string>;
}
