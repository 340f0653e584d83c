"""Shows figures 3 to 5 of Galleguillos and others (MOD 2017), run from mod2017.yaml."""
