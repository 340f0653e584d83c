"""What predictions are worth to dispatchers, declared in predictors.yaml.

`declaration` reads what is declared and says which runs follow from it, `distributions` reads what
they came to, `table`, `boxes` and `page` show it.
"""
