"""The next step: embeddings, clustering, recommenders, link prediction."""
